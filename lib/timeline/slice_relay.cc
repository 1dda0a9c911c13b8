// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/slice_relay.h"

#include "lib/base/thread_nice.h"

namespace fkt {

void SliceRelay::start_batch() {
  if (batch_ != nullptr) queue_.put();
  batch_ = queue_.next_to_fill();  // never nullptr: stop() is not called
  batch_->clear();
  batch_->reserve(kSlices);
}

void SliceRelay::finish() {
  if (!worker_.joinable()) return;
  if (batch_ != nullptr) queue_.put();
  batch_ = nullptr;
  queue_.end();
  worker_.join();
}

void SliceRelay::work() {
  set_thread_nice(kHelperNice);
  while (const std::vector<Packed>* const batch = queue_.take()) {
    for (const Packed& slice : *batch) {
      to_.slice({slice.kind, slice.depth, slice.begun, slice.ended, slice.cpu, slice.task,
                 slice.value, slice.in, slice.from, slice.to, slice.told});
    }
  }
}

}  // namespace fkt
