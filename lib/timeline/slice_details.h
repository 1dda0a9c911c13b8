// SPDX-License-Identifier: GPL-2.0-only
// Details of one slice of the timeline besides its bounds: the states of its task in it, what woke
// that task, the call around it, and the slices of the same kind before and after it. States and
// wake-ups are those of calls and states; of a run the wake-up that led to it. What no task does,
// such as an interrupt or a request to a disk, has neither.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/timeline/timeline.h"

namespace fkt {

struct SliceDetails {
  static constexpr std::size_t kMostWakes = 20;

  struct Woken {
    Wake wake;
    std::uint64_t asleep = 0;  // ticks that the task had slept within the slice
  };

  std::array<std::uint64_t, 4> states{};  // ticks of its task in it, by TaskState
  std::vector<Woken> wakes;               // those that ended the longest sleeps, longest first
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
