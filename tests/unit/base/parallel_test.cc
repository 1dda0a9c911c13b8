// SPDX-License-Identifier: GPL-2.0-only
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "lib/base/background_task.h"
#include "lib/base/batch_queue.h"
#include "lib/base/parallel_for.h"

namespace {

using fkt::BackgroundTask;
using fkt::parallel_for;

TEST_CASE("parallel_for visits each number once, whatever the pieces and threads") {
  for (const std::size_t count : {0U, 1U, 15U, 16U, 17U, 1000U}) {
    for (const std::size_t piece : {1U, 16U, 2000U}) {
      for (const unsigned threads : {1U, 3U, 9U}) {
        std::vector<std::atomic<int>> visits(count);
        std::atomic<bool> too_long{false};
        parallel_for(count, piece, threads, [&](std::size_t first, std::size_t end) {
          if (first >= end || end - first > piece) too_long = true;
          for (std::size_t i = first; i < end; i++) ++visits.at(i);
        });
        INFO(count << " numbers, pieces of " << piece << ", " << threads << " threads");
        CHECK_FALSE(too_long);
        CHECK(std::ranges::all_of(visits, [](const auto& times) { return times == 1; }));
      }
    }
  }
}

TEST_CASE("parallel_for uses that many threads at once") {
  // Each piece waits until all three are being worked on.
  std::atomic<int> begun{0};
  std::mutex mutex;
  std::set<std::thread::id> threads;
  parallel_for(3, 1, 3, [&](std::size_t, std::size_t) {
    ++begun;
    while (begun < 3) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  CHECK(threads.size() == 3);
  CHECK(threads.contains(std::this_thread::get_id()));
}

TEST_CASE("a queue passes every batch on, in order, whichever thread is slower") {
  for (const std::size_t batches : {2U, 3U, 16U}) {
    for (const unsigned slow :
         {0U, 1U, 2U}) {  // 0: neither thread, 1: the producer, 2: the consumer
      for (const unsigned count : {0U, 1U, 2U, 500U}) {
        INFO(batches << " batches, " << slow << ", " << count << " of them");
        fkt::BatchQueue<unsigned> queue(batches);
        std::thread filling([&] {
          for (unsigned i = 0; i < count; i++) {
            if (slow == 1 && i % 100 == 0)
              std::this_thread::sleep_for(std::chrono::milliseconds(1));
            *queue.next_to_fill() = i;
            queue.put();
          }
          queue.end();
        });
        unsigned next = 0, wrong = 0;
        while (const unsigned* const batch = queue.take()) {
          if (slow == 2 && next % 100 == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          wrong += *batch != next++;
        }
        filling.join();
        CHECK(next == count);
        CHECK(wrong == 0);
        CHECK(queue.take() == nullptr);
      }
    }
  }
}

TEST_CASE("who fills a queue ends when nobody takes any more") {
  fkt::BatchQueue<unsigned> queue(4);
  unsigned filled = 0;
  std::thread filling([&] {
    for (; queue.next_to_fill() != nullptr; filled++) queue.put();
  });
  CHECK(queue.take() != nullptr);
  queue.stop();
  filling.join();
  CHECK(filled >= 1);
  CHECK(filled <= 5);
}

TEST_CASE("a background task waits for the one before, and for the last one") {
  std::atomic<bool> may_end{false};
  std::vector<int> ended;
  {
    BackgroundTask task;
    task.wait();
    task.start([&] {
      while (!may_end) std::this_thread::yield();
      ended.push_back(1);
    });
    may_end = true;
    task.start([&] { ended.push_back(2); });
    task.wait();
    CHECK(ended == std::vector{1, 2});
    task.start([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ended.push_back(3);
    });
  }
  CHECK(ended == std::vector{1, 2, 3});
}

}  // namespace
