// SPDX-License-Identifier: GPL-2.0-only
// Merges the events of all CPUs into time order.
//
// Each CPU's stream is in time order by itself (wire.h; CpuStream checks it). A heap holds the CPUs
// by the time of their next event. The earliest CPU's events are handed out without looking at the
// heap until one is not before the next CPU's. So a busy CPU costs one comparison per event, and
// memory use depends only on the number of CPUs.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <vector>

#include "lib/base/merge_heap.h"
#include "lib/read/cpu_stream.h"
#include "lib/read/pages_ahead.h"
#include "lib/read/recording.h"

namespace fkt {

// An input range for one pass: call begin() once; each Event is valid until the next ++.
class EventRange {
 public:
  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = Event;

    iterator() = default;
    explicit iterator(EventRange* range) : range_(range) {}
    const Event& operator*() const { return range_->current_->event(); }
    const Event* operator->() const { return &range_->current_->event(); }
    iterator& operator++() {
      range_->next();
      return *this;
    }
    void operator++(int) { range_->next(); }
    bool operator==(std::default_sentinel_t) const { return range_->current_ == nullptr; }

   private:
    EventRange* range_ = nullptr;
  };

  EventRange(RecordingData& data, const ReadRange& range) : data_(&data), range_(range) {}

  iterator begin() {
    start();
    return iterator(this);
  }
  std::default_sentinel_t end() const { return {}; }

 private:
  void start();
  bool open_streams();
  void open_stretch();
  void pick();

  void next() {
    if (!current_->advance()) [[unlikely]] {
      pick();
    } else if (current_->event().clock >= limit_) {
      requeue();
    }
    count();
  }
  void requeue();
  void set_limit();
  void count() {
    if (current_ == nullptr || current_->event().is_gap()) return;
    data_->integrity.events += !is_made_begin(current_->event().id);
  }

  RecordingData* data_;
  ReadRange range_;
  std::unique_ptr<PagesAhead> ahead_;  // nullptr unless range_.ahead
  std::vector<CpuStream> streams_;
  // Heap entry of a stream: a copy of the time and CPU of its next event, kept together for the
  // cache.
  static MergeSource<CpuStream> waiting(CpuStream& stream) {
    return {stream.event().clock, stream.event().cpu, &stream};
  }

  std::vector<MergeSource<CpuStream>> heap_;  // of the streams but current_; the earliest in front
  CpuStream* current_ = nullptr;  // the stream of the event handed out; nullptr at the end
  std::size_t stretch_ = 0;       // index of the slice's stretch that is being read
  std::uint64_t limit_ = 0;  // current_ stays the earliest while its clock is below this (ticks)
};

}  // namespace fkt
