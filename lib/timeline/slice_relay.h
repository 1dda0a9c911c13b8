// SPDX-License-Identifier: GPL-2.0-only
// SliceRelay: an observer that passes its slices on, in their order, to a thread of its own.
// Wake-ups and events are not passed on.
//
// `To` is what takes them: add(const PackedSlice&) is called for each, in that thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "lib/base/batch_queue.h"
#include "lib/base/thread_nice.h"
#include "lib/format/limits.h"
#include "lib/timeline/state_tracker.h"

namespace fkt {

// A slice as it is passed on: in an order in which no two fields of one size are neighbours, so
// that each is copied alone. Right after they were written, store forwarding fails for a copy of
// two at once.
struct PackedSlice {
  std::uint64_t from;
  std::uint32_t value;
  std::uint16_t cpu;
  SliceKind kind;
  bool ended;
  std::uint64_t to;
  std::uint32_t task;
  bool begun;
  std::uint8_t depth;
  std::uint64_t told;
  std::uint32_t in;

  static_assert(kMaxCpus <= 1 << 16);
  static PackedSlice of(const Slice& slice) {
    return {slice.from, slice.value, static_cast<std::uint16_t>(slice.cpu),
            slice.kind, slice.ended, slice.to,
            slice.task, slice.begun, slice.depth,
            slice.told, slice.in};
  }
  operator Slice() const {
    return {kind, depth, begun, ended, cpu, task, value, in, from, to, told};
  }
};

template <class To>
class SliceRelay final : public StateObserver {
 public:
  // `to` must outlive this object. Only this object's thread uses it until finish() has returned.
  explicit SliceRelay(To& to) : to_(to), worker_([this] { work(); }) {}
  ~SliceRelay() override { finish(); }
  SliceRelay(const SliceRelay&) = delete;
  SliceRelay& operator=(const SliceRelay&) = delete;

  void slice(const Slice& slice) override {
    if (next_ == end_) [[unlikely]] {
      return slice_in_new_batch(slice);
    }
    *next_++ = PackedSlice::of(slice);
  }
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
  // Not inlined, so that slice() needs none of the registers that it would have to save.
  [[gnu::noinline]] void slice_in_new_batch(const Slice& slice) {
    pass_on();
    batch_ = queue_.next_to_fill();  // never nullptr: stop() is not called
    next_ = batch_->slices.data();
    end_ = next_ + kSlices;
    *next_++ = PackedSlice::of(slice);
  }
  void work() {
    set_thread_nice(kHelperNice);
    while (const Batch* const batch = queue_.take()) {
      for (std::size_t i = 0; i < batch->count; i++) to_.add(batch->slices[i]);
    }
  }

  To& to_;
  BatchQueue<Batch> queue_{kBatches};
  Batch* batch_ = nullptr;       // the batch that slice() appends to
  PackedSlice* next_ = nullptr;  // where in it; end_: it is full, or there is none
  PackedSlice* end_ = nullptr;
  std::jthread worker_;
};

}  // namespace fkt
