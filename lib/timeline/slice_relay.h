// SPDX-License-Identifier: GPL-2.0-only
// SliceRelay: an observer that passes its slices, in their order, to another observer, which runs
// in a thread of its own. Wake-ups and events are not passed on.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

#include "lib/base/batch_queue.h"
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
    batch_->push_back(slice);
  }
  // Waits until all slices have been passed on. slice() must not be called afterwards.
  void finish();

 private:
  static constexpr std::size_t kBatches = 16, kSlices = 2048;
  void start_batch();
  void work();

  StateObserver& to_;
  BatchQueue<std::vector<Slice>> queue_{kBatches};
  std::vector<Slice>* batch_ = nullptr;  // the batch that slice() appends to
  std::jthread worker_;
};

}  // namespace fkt
