// SPDX-License-Identifier: GPL-2.0-only
// SliceGroups: puts the narrow slices of a burst (lib/timeline/burst_merge.h) together, so that an
// observer that would do so itself gets fewer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/timeline/slice.h"

namespace fkt {

class SliceGroups {
 public:
  // observer: gets the slices; must outlive this, or be nullptr.
  explicit SliceGroups(StateObserver* observer)
      : observer_(observer), buckets_(observer != nullptr ? observer->buckets() : Buckets()) {}
  StateObserver* observer() const { return observer_; }

  // Call at the begin of each burst, which is of this task.
  void begin(TaskIndex task) { task_ = task; }
  void add(const ClosedSpan& span) {
    const std::uint64_t ticks = span.to - span.from;
    Row& row = rows_[row_of(span)];
    // Where no group is open, no slice is narrow.
    if (ticks >= row.width || span.from - row.bucket >= row.width) {
      return add_slowly(span.of_cpu, span.depth, span.type, span.from, span.to, span.told,
                        span.cpu);
    }
    row.count++;
    row.to = std::max(row.to, span.to);
    row.busy += ticks;
    if (ticks <= row.longest) return;
    row.longest = ticks;
    row.type = span.type;
    row.cpu = span.cpu;
  }
  // Call at the end of each burst.
  void end() {
    for (std::size_t at = 0; open_ != 0; at++) {
      if ((open_ & 1U << at) != 0) end(at);
    }
  }

 private:
  static constexpr std::size_t kDepths = 8;  // slices that nest deeper are passed on by themselves
  struct Row {
    std::uint64_t width = 0;   // of the bucket (ticks); 0: no group is open
    std::uint64_t bucket = 0;  // where it begins (ticks)
    std::uint64_t from = 0, to = 0, told = 0;
    std::uint64_t longest = 0, busy = 0;  // as in SliceGroup
    std::uint32_t count = 0;
    TypeIndex type = kNoType;
    std::uint32_t cpu = 0;  // of the longest one
  };

  static std::size_t row_of(const ClosedSpan& span) {
    return std::min(span.depth, kDepths) + (span.of_cpu ? kDepths + 1 : 0);
  }
  // Not inlined: most slices are added to a group. It takes the parts of a span, so that add() need
  // not have one in memory.
  [[gnu::noinline]] void add_slowly(bool of_cpu, std::size_t depth, TypeIndex type,
                                    std::uint64_t from, std::uint64_t to, std::uint64_t told,
                                    std::uint32_t cpu);
  void end(std::size_t at);

  StateObserver* const observer_;
  const Buckets buckets_;
  TaskIndex task_ = kNoTask;
  std::uint64_t bucket_ = buckets_.from;  // begin of the bucket in which the latest group began
  std::uint32_t open_ = 0;                // rows that have a group, a bit each
  // By depth, of calls and of interrupts. The last one of each is for what nests deeper, and never
  // has a group.
  std::array<Row, 2 * (kDepths + 1)> rows_;
};

}  // namespace fkt
