// SPDX-License-Identifier: GPL-2.0-only
// SliceGroups: puts the narrow slices of a burst (lib/timeline/burst_merge.h) together, so that an
// observer that would do so itself gets fewer.
#pragma once

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
  // Adds a slice of a call or an interrupt, of the burst's task and CPU. Precondition: there is an
  // observer.
  void add(const Slice& slice) {
    const bool wide = slice.to - slice.from >= buckets_.width;
    if (wide || slice.depth >= kDepths || slice.from < buckets_.from) return pass_on(slice);
    const std::size_t row = row_of(slice);
    Row& in = rows_[row];
    const bool is_open = (open_ & 1U << row) != 0;
    if (is_open && slice.from - in.bucket < buckets_.width) return in.group.add(slice);
    if (is_open) end(row);
    in.bucket = bucket_of(slice.from);
    in.group = SliceGroup(slice);
    open_ |= 1U << row;
  }
  // Call at the end of each burst.
  void end() {
    for (std::size_t row = 0; open_ != 0; row++) {
      if ((open_ & 1U << row) != 0) end(row);
    }
  }

 private:
  static constexpr std::size_t kDepths = 8;  // slices that nest deeper are passed on by themselves
  struct Row {
    std::uint64_t bucket = 0;  // where it begins (ticks)
    SliceGroup group;
  };
  static std::size_t row_of(const Slice& slice) {
    return slice.depth + (slice.kind == SliceKind::interrupt ? kDepths : 0);
  }
  std::uint64_t bucket_of(std::uint64_t clock) {
    if (clock - bucket_ >= buckets_.width) {  // mostly it is that of the slice before
      bucket_ = clock - (clock - buckets_.from) % buckets_.width;
    }
    return bucket_;
  }
  // Not inlined, as what follows: most slices are added to a group.
  [[gnu::noinline]] void pass_on(const Slice& slice) {
    if (slice.depth < kDepths && (open_ & 1U << row_of(slice)) != 0) end(row_of(slice));
    observer_->slice(slice);
  }
  void end(std::size_t row) {
    open_ &= ~(1U << row);
    const SliceGroup& group = rows_[row].group;
    group.count == 1 ? observer_->slice(group.all) : observer_->slices(group);
  }

  StateObserver* const observer_;
  const Buckets buckets_;
  std::uint64_t bucket_ = 0;
  unsigned open_ = 0;                  // rows that have a group, a bit each
  std::array<Row, 2 * kDepths> rows_;  // by depth, of calls and of interrupts
};

}  // namespace fkt
