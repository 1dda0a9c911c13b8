// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/event_merge.h"

#include <algorithm>

#include "lib/base/merge_heap.h"
#include "lib/format/clocks.h"

namespace fkt {
void EventRange::start() {
  data_->integrity.events = 0;
  stretch_ = 0;
  open_stretch();
  count();
}

// Opens the first stretch from stretch_ on that has selected events.
void EventRange::open_stretch() {
  current_ = nullptr;
  while (!open_streams() && stretch_ + 1 < data_->info.stretches()) stretch_++;
  if (!heap_.empty()) pick();
}

// Returns false when the stretch has no event of the selection.
bool EventRange::open_streams() {
  streams_.clear();
  heap_.clear();
  std::uint64_t from = range_.from.value_or(0);
  std::uint64_t to = range_.to.value_or(kForever);
  const Checkpoint* const checkpoint =
      data_->info.checkpoint ? &data_->info.stretch(stretch_) : nullptr;
  if (checkpoint != nullptr) {
    from = std::max(from, checkpoint->from);
    to = std::min(to, checkpoint->to);
  }
  if (range_.ahead) ahead_ = std::make_unique<PagesAhead>(*data_, from, to, range_.page_read);
  streams_.reserve(data_->by_cpu.size());  // the heap points into it: no reallocation from here on
  for (const auto& [cpu, pages] : data_->by_cpu) {
    if (range_.cpu && *range_.cpu != cpu) continue;
    CpuStream& stream = streams_.emplace_back(*data_, pages, from, to, checkpoint);
    stream.read_from(ahead_.get());
    if (stream.advance()) heap_.push_back(waiting(stream));
  }
  make_least_heap(heap_);
  return !heap_.empty();
}

// The current stream has ended: continues with the stream whose next event is earliest.
void EventRange::pick() {
  if (heap_.empty()) {
    current_ = nullptr;
    if (stretch_ + 1 >= data_->info.stretches()) return;
    stretch_++;
    return open_stretch();
  }
  current_ = heap_.front().source;
  pop_front(heap_);
  set_limit();
}

// The current stream is no longer the earliest: puts it back into the heap and takes the earliest.
void EventRange::requeue() {
  CpuStream* next = heap_.front().source;
  replace_front(heap_, waiting(*current_));
  current_ = next;
  set_limit();
}

void EventRange::set_limit() {
  limit_ = kForever;
  if (heap_.empty()) return;
  const MergeSource<CpuStream>& other = heap_.front();
  // At equal times the lower CPU number comes first.
  limit_ = other.clock + (current_->event().cpu < other.cpu);
}

}  // namespace fkt
