// SPDX-License-Identifier: GPL-2.0-only
// The lanes of a time interval, as the page draws them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/fkt_selection/model.h"
#include "lib/timeline/lanes.h"

namespace fkt::cli {

struct LaneListRequest {
  TimeScale scale;
  std::uint64_t most = 0;             // number of tasks
  std::string filter;                 // part of a task's name, or its tid or pid; empty: all tasks
  std::vector<std::uint32_t> pins{};  // tids of tasks that are listed besides these
  bool fine = false;  // allow the time for a picture that is finer than the levels of detail
  // Shorter: "from" is written as the difference to that of the lane's cell before, "to" as the
  // length, and "busy" is 0 where it is the length.
  bool differences = false;
  std::size_t most_wakes = Lanes::kMostWakes;  // if there are more, none is written
};

// Returns JSON: lanes (with cells [kind, depth, begun | ended << 1, count, value, in, cpu, from,
// to, busy]), wakes ([waker, its cpu, woken, task,
// cpu, runs, interrupt or null]), "wakes_left_out" if there are too many, gaps, names of the tasks
// and types that occur, task_count, "bucket" (ticks): slices that are narrower may be combined, and
// "coarse" if a request for a fine picture would give a finer one.
std::string list_lanes(const Model& model, const LaneListRequest& request,
                       const Unwanted& unwanted);

}  // namespace fkt::cli
