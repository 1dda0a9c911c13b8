// SPDX-License-Identifier: GPL-2.0-only
// SliceRelay: an observer that passes its slices on, in their order, to a thread of its own.
// Wake-ups and events are not passed on.
//
// `To` takes the slices: its add(const PackedSlice&) is called for each, in that thread; its
// buckets() is that of a StateObserver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "lib/base/batch_queue.h"
#include "lib/base/thread_nice.h"
#include "lib/timeline/packed_slice.h"

namespace fkt {

template <class To>
class SliceRelay final : public StateObserver {
 public:
  // `to` must outlive this object. Only this object's thread uses it until finish() has returned.
  explicit SliceRelay(To& to) : to_(to), buckets_(to.buckets()), worker_([this] { work(); }) {}
  ~SliceRelay() override { finish(); }
  SliceRelay(const SliceRelay&) = delete;
  SliceRelay& operator=(const SliceRelay&) = delete;

  void slice(const Slice& slice) override { put(slice); }
  void slices(const SliceGroup& group) override { put(group); }
  Buckets buckets() const override { return buckets_; }
  bool wants_events() const override { return false; }
  // Waits until all slices have been passed on. slice() must not be called afterwards.
  void finish() {
    if (!worker_.joinable()) return;
    pass_on();
    queue_.end();
    worker_.join();
  }

 private:
  static constexpr std::size_t kBatches = 16, kSlices = 2048;
  struct Batch {
    std::size_t count = 0;
    std::array<PackedSlice, kSlices> slices;
  };
  void pass_on() {
    if (batch_ == nullptr) return;
    batch_->count = static_cast<std::size_t>(next_ - batch_->slices.data());
    queue_.put();
    batch_ = nullptr;
  }
  template <class Slices>
  void put(const Slices& slices) {
    if (next_ == end_) [[unlikely]] {
      return put_in_new_batch(slices);
    }
    *next_++ = PackedSlice::of(slices);
  }
  // Not inlined, so that put() needs none of the registers that it would have to save.
  template <class Slices>
  [[gnu::noinline]] void put_in_new_batch(const Slices& slices) {
    pass_on();
    batch_ = queue_.next_to_fill();  // never nullptr: stop() is not called
    next_ = batch_->slices.data();
    end_ = next_ + kSlices;
    *next_++ = PackedSlice::of(slices);
  }
  void work() {
    set_thread_nice(kHelperNice);
    while (const Batch* const batch = queue_.take()) {
      for (std::size_t i = 0; i < batch->count; i++) to_.add(batch->slices[i]);
    }
  }

  To& to_;
  const Buckets buckets_;
  BatchQueue<Batch> queue_{kBatches};
  Batch* batch_ = nullptr;       // the batch that slice() appends to
  PackedSlice* next_ = nullptr;  // where in it; end_: it is full, or there is none
  PackedSlice* end_ = nullptr;
  std::jthread worker_;
};

}  // namespace fkt
