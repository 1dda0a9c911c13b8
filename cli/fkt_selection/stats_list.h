// SPDX-License-Identifier: GPL-2.0-only
// The statistics of a stretch of time as JSON, for the page's tables.
#pragma once

#include <string>

#include "lib/timeline/window_stats.h"

namespace fkt::cli {

// The tasks that are listed.
struct TaskSums {
  const WindowStats& stats;
  const Tasks& tasks;  // under the indexes used in `stats`
  bool waits = true;   // false: only how long they ran is known
};

// types: the names of the types in `stats`.
// has_cpus: false: it is not known when tasks ran on which CPU.
std::string list_stats(const WindowStats& stats, const SpanTypes& types, const TaskSums& tasks,
                       bool has_cpus = true);

}  // namespace fkt::cli
