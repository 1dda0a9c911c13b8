// SPDX-License-Identifier: GPL-2.0-only
// Details of one slice of the timeline besides its bounds: the states of its task in it, the
// wake-ups of that task, the call around it, and the slices of the same kind before and after it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/timeline/timeline.h"

namespace fkt {

struct SliceDetails {
  static constexpr std::size_t kMostWakes = 20;

  std::array<std::uint64_t, 4> states{};  // ticks of its task in it, by TaskState
  std::vector<Wake> wakes;                // of its task, that came in it; the first ones
  std::uint64_t wake_count = 0;
  std::optional<Slice> parent;  // the innermost call or interrupt around it
  // The nearest slices of the same task (of a run: on any CPU) that have the same value.
  std::optional<Slice> previous, next;
};

// Returns the details of the slice `of`, whose kind, depth, task, cpu, value, from and to must be
// set. The search is abandoned when `unwanted` returns true; the details are then incomplete.
SliceDetails slice_details(const Timeline& timeline, const Slice& of,
                           const Unwanted& unwanted = {});

}  // namespace fkt
