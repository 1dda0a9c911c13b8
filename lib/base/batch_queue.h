// SPDX-License-Identifier: GPL-2.0-only
// BatchQueue: passes batches of work from one thread to another, in order. The batches are reused,
// so that memory stays the same however long the queue is used.
//
// Both threads wait for half of the batches, not for one: each then works for a while without being
// woken, whichever is faster.
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

  // For the thread that fills: returns the next batch, with what it was last filled with; nullptr
  // after stop().
  Batch* next_to_fill() {
    std::unique_lock lock(mutex_);
    if (waiting() == batches_.size()) {
      room_.wait(lock, [&] { return stopped_ || waiting() <= batches_.size() / 2; });
    }
    return stopped_ ? nullptr : &batches_[filled_ % batches_.size()];
  }
  // The batch that next_to_fill() returned is full.
  void put() {
    const std::lock_guard lock(mutex_);
    filled_++;
    if (waiting() >= batches_.size() / 2) ready_.notify_one();
  }
  // No batch comes after those that were put.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    ready_.notify_one();
  }

  // For the thread that takes: returns the next batch, valid until the next call; nullptr at the
  // end.
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
  // No batch will be taken any more: the thread that fills need not go on.
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    room_.notify_one();
  }

 private:
  // Returns the number of batches that are full, or being read by the thread that took them.
  std::size_t waiting() const { return static_cast<std::size_t>(filled_ - released_); }

  std::vector<Batch> batches_;
  std::mutex mutex_;
  std::condition_variable room_, ready_;
  // How many were put, taken, and taken and left again. Each batch is used by the thread that has
  // it, without the mutex, which protects all that follows.
  std::uint64_t filled_ = 0, taken_ = 0, released_ = 0;
  bool ended_ = false, stopped_ = false;
};

}  // namespace fkt
