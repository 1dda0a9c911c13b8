// SPDX-License-Identifier: GPL-2.0-only
// SliceRelay: an observer that passes its slices, in their order, to another observer, which runs
// in a thread of its own. Wake-ups and events are not passed on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "lib/base/batch_queue.h"
#include "lib/format/limits.h"
#include "lib/timeline/state_tracker.h"

namespace fkt {

class SliceRelay : public StateObserver {
 public:
  // `to` must outlive this object. Only this object's thread uses it until finish() has returned.
  explicit SliceRelay(StateObserver& to) : to_(to), worker_([this] { work(); }) {}
  ~SliceRelay() override { finish(); }
  SliceRelay(const SliceRelay&) = delete;
  SliceRelay& operator=(const SliceRelay&) = delete;

  void slice(const Slice& slice) override {
    if (batch_ == nullptr || batch_->size() == kSlices) start_batch();
    batch_->push_back(packed(slice));
  }
  bool wants_events() const override { return false; }
  // Waits until all slices have been passed on. slice() must not be called afterwards.
  void finish();

 private:
  static constexpr std::size_t kBatches = 16, kSlices = 2048;
  // A slice in an order in which no two fields of one size are neighbours, so that each is copied
  // alone: right after they were written, store forwarding fails for a copy of two at once.
  struct Packed {
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
  };
  static_assert(kMaxCpus <= 1 << 16);
  static Packed packed(const Slice& slice) {
    return {slice.from, slice.value, static_cast<std::uint16_t>(slice.cpu),
            slice.kind, slice.ended, slice.to,
            slice.task, slice.begun, slice.depth,
            slice.told, slice.in};
  }
  void start_batch();
  void work();

  StateObserver& to_;
  BatchQueue<std::vector<Packed>> queue_{kBatches};
  std::vector<Packed>* batch_ = nullptr;  // the batch that slice() appends to
  std::jthread worker_;
};

}  // namespace fkt
