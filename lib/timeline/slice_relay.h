// SPDX-License-Identifier: GPL-2.0-only
// SliceRelay: hands slices on to another observer, which works in a thread of its own. It gets the
// same slices in the same order; wake-ups and events are not handed on.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

#include "lib/base/batch_queue.h"
#include "lib/timeline/state_tracker.h"

namespace fkt {

class SliceRelay : public StateObserver {
 public:
  // `to` must outlive this object, and belongs to its thread until finish() has returned.
  explicit SliceRelay(StateObserver& to) : to_(to), worker_([this] { work(); }) {}
  ~SliceRelay() override { finish(); }
  SliceRelay(const SliceRelay&) = delete;
  SliceRelay& operator=(const SliceRelay&) = delete;

  void slice(const Slice& slice) override {
    if (batch_ == nullptr || batch_->size() == kSlices) start_batch();
    batch_->push_back(slice);
  }
  // Waits until all slices have been handed on; there must be none after it.
  void finish();

 private:
  static constexpr std::size_t kBatches = 16, kSlices = 512;
  void start_batch();
  void work();

  StateObserver& to_;
  BatchQueue<std::vector<Slice>> queue_{kBatches};
  std::vector<Slice>* batch_ = nullptr;  // that is being filled
  std::jthread worker_;
};

}  // namespace fkt
