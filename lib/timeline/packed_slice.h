// SPDX-License-Identifier: GPL-2.0-only
// PackedSlice: a slice, or a group of them, with what is needed to draw it.
#pragma once

#include <cstdint>

#include "lib/format/limits.h"
#include "lib/timeline/slice.h"

namespace fkt {

// A slice, or a group of them, as it is passed on: in an order in which no two fields of one size
// are neighbours, so that each is copied alone. Right after they were written, store forwarding
// fails for a copy of two at once. Slice::told is not passed on.
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
  std::uint64_t longest;  // as in SliceGroup
  std::uint32_t in;
  std::uint64_t busy;
  std::uint32_t count;

  static_assert(kMaxCpus <= 1 << 16);
  static PackedSlice of(const Slice& all, std::uint64_t longest, std::uint64_t busy,
                        std::uint32_t count) {
    return {all.from, all.value, static_cast<std::uint16_t>(all.cpu),
            all.kind, all.ended, all.to,
            all.task, all.begun, all.depth,
            longest,  all.in,    busy,
            count};
  }
  static PackedSlice of(const Slice& slice) {
    const std::uint64_t ticks = slice.to - slice.from;
    return of(slice, ticks, ticks, 1);
  }
  static PackedSlice of(const SliceGroup& group) {
    return of(group.all, group.longest, group.busy, group.count);
  }
};

}  // namespace fkt
