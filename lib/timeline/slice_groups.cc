// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/slice_groups.h"

namespace fkt {

void SliceGroups::add_slowly(bool of_cpu, std::size_t depth, TypeIndex type, std::uint64_t from,
                             std::uint64_t to, std::uint64_t told, std::uint32_t cpu) {
  if (observer_ == nullptr) return;
  const ClosedSpan span{of_cpu, depth, type, from, to, told, cpu};
  const std::size_t at = row_of(span);
  if ((open_ & 1U << at) != 0) end(at);
  const std::uint64_t ticks = to - from;
  if (ticks >= buckets_.width || depth >= kDepths || from < buckets_.from) {
    return observer_->slice(span.slice(task_));
  }
  if (from - bucket_ >= buckets_.width) {  // mostly it is the bucket of the group before
    bucket_ = from - (from - buckets_.from) % buckets_.width;
  }
  rows_[at] = {buckets_.width, bucket_, from, to, told, ticks, ticks, 1, type, cpu};
  open_ |= 1U << at;
}

void SliceGroups::end(std::size_t at) {
  Row& row = rows_[at];
  const bool of_cpu = at > kDepths;
  const std::size_t depth = at - (of_cpu ? kDepths + 1 : 0);
  const ClosedSpan span{of_cpu, depth, row.type, row.from, row.to, row.told, row.cpu};
  const Slice all = span.slice(task_);
  row.width = 0;
  open_ &= ~(1U << at);
  if (row.count == 1) return observer_->slice(all);
  observer_->slices({all, row.longest, row.busy, row.count});
}

}  // namespace fkt
