// SPDX-License-Identifier: GPL-2.0-only
// BatchQueue: passes batches of work from one thread (the producer) to another (the consumer), in
// order. It has a fixed number of batches, whose memory is used again.
//
// A thread that has to wait sleeps until half of the batches are full (consumer) or free
// (producer), so that it is not woken for each batch.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace fkt {

template <class Batch>
class BatchQueue {
 public:
  // batches: at least 2.
  explicit BatchQueue(std::size_t batches) : batches_(batches) {}
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;

  // Producer: returns a free batch, which still has its former contents; nullptr after stop().
  Batch* next_to_fill() {
    std::unique_lock lock(mutex_);
    if (waiting() == batches_.size()) {
      room_.wait(lock, [&] { return stopped_ || waiting() <= batches_.size() / 2; });
    }
    return stopped_ ? nullptr : &batches_[filled_ % batches_.size()];
  }
  // Producer: passes on the batch that next_to_fill() returned.
  void put() {
    const std::lock_guard lock(mutex_);
    filled_++;
    if (waiting() >= batches_.size() / 2) ready_.notify_one();
  }
  // Producer: no further batch will be put.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    ready_.notify_one();
  }

  // Consumer: returns the next batch, valid until the next call; nullptr after end() when all
  // batches have been taken.
  const Batch* take() {
    std::unique_lock lock(mutex_);
    if (taken_ != released_) {
      released_ = taken_;
      if (waiting() <= batches_.size() / 2) room_.notify_one();
    }
    if (filled_ == taken_) {
      ready_.wait(lock, [&] { return ended_ || waiting() >= batches_.size() / 2; });
    }
    return filled_ == taken_ ? nullptr : &batches_[taken_++ % batches_.size()];
  }
  // Consumer: no further batch will be taken; next_to_fill() returns nullptr from then on.
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    room_.notify_one();
  }

 private:
  // Returns the number of batches that are not free: full, or being read by the consumer.
  std::size_t waiting() const { return static_cast<std::size_t>(filled_ - released_); }

  std::vector<Batch> batches_;
  std::mutex mutex_;
  std::condition_variable room_, ready_;
  // Numbers of batches put by the producer, taken by the consumer, and given back by the consumer.
  // The mutex protects these numbers and what follows; a batch itself is used without the mutex by
  // the thread that holds it.
  std::uint64_t filled_ = 0, taken_ = 0, released_ = 0;
  bool ended_ = false, stopped_ = false;
};

}  // namespace fkt
