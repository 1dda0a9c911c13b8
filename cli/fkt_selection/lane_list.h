// SPDX-License-Identifier: GPL-2.0-only
// The lanes of a stretch of time, as the page draws them.
#pragma once

#include <cstdint>
#include <string>

#include "cli/fkt_selection/model.h"

namespace fkt::cli {

struct LaneListRequest {
  Scale scale;
  std::uint64_t most = 0;  // tasks
  std::string filter;      // part of a task's name, or its number; empty: all
  bool fine = false;       // take the time that a picture takes which is finer than the levels are
};

// As JSON: lanes (of cells [kind, depth, begun | ended << 1, count, value, in, cpu, from, to,
// busy]), wakes, "wakes_left_out" where there are too many to tell, gaps, the names of tasks and
// types that occur, task_count, and "coarse" where asking for a fine picture would give a finer
// one.
std::string list_lanes(const Model& model, const LaneListRequest& request,
                       const Unwanted& unwanted);

}  // namespace fkt::cli
