// SPDX-License-Identifier: GPL-2.0-only
// The critical path of a task between two moments: what would have had to be faster for the task to
// be done earlier. It is followed backwards from the end. While the task ran or waited for a CPU,
// that is the path; while it slept, the path is what the task that woke it did in that time, and so
// on. A sleep ended by an interrupt or by an unknown waker was a wait for a device or a timer: then
// the sleep itself is the path.
#pragma once

#include <vector>

#include "lib/analyse/task_activity.h"

namespace fkt {

struct PathStep {
  std::uint64_t from = 0, to = 0;  // ticks
  TaskIndex task = kNoTask;
  // Unknown: the recording says nothing about that time.
  TaskActivity::Doing doing = TaskActivity::Doing::unknown;
  TypeIndex call = kNoType;
  bool by_interrupt = false;
  std::uint32_t waker = TaskActivity::kNoWaker;  // the waker, if the step is a sleep
};

// Returns the path from `from` to `to` (ticks) in time order, without gaps. Precondition: the
// states keep their history.
std::vector<PathStep> critical_path(const TaskActivity& states, TaskIndex task, std::uint64_t from,
                                    std::uint64_t to);

}  // namespace fkt
