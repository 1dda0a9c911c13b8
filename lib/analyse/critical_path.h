// SPDX-License-Identifier: GPL-2.0-only
// The critical path of a task between two moments: what would have had to be faster for the task to
// be done earlier. It is followed backwards from the end. While the task ran or waited for a CPU,
// that is the path; while it slept, the path is what the task that woke it did in that time, and so
// on. A sleep ended by an interrupt or by an unknown waker was a wait for a device or a timer: then
// the sleep itself is the path. What a task that was waited for did before it was born is what its
// parent did.
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

// Returns the path from `from` to `to` (ticks), or the part of this time in which the task lived,
// in time order, without gaps; empty: it did not live then. Precondition: the states keep their
// history.
std::vector<PathStep> critical_path(const TaskActivity& states, const Tasks& tasks, TaskIndex task,
                                    std::uint64_t from, std::uint64_t to);

}  // namespace fkt
