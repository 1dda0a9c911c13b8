// SPDX-License-Identifier: GPL-2.0-only
// The critical path of a task between two moments: what would have had to be faster for the task to
// be done earlier. It is followed backwards from the end. While the task ran or waited for a CPU,
// that is the path; while it slept, the path is what the task that woke it did in that time, and so
// on. A sleep ended by an interrupt or by an unknown waker was a wait for a device or a timer: then
// the sleep itself is the path; unless the waker is a softirq that a task raised, as one does that
// sends to a socket of its own machine: then it is that task. What a task that was waited for did
// before it was born is what its parent did.
#pragma once

#include <vector>

#include "lib/analyse/task_activity.h"

namespace fkt {

inline constexpr std::uint32_t kNoWait = ~std::uint32_t{0};

struct PathStep {
  std::uint64_t from = 0, to = 0;  // ticks
  TaskIndex task = kNoTask;
  // Unknown: the recording says nothing about that time.
  TaskActivity::Doing doing = TaskActivity::Doing::unknown;
  TypeIndex call = kNoType;
  bool by_interrupt = false;
  std::uint32_t waker = TaskActivity::kNoWaker;  // the waker, if the step is a sleep
  std::uint32_t wait = kNoWait;  // its place in CriticalPath::waits: the innermost that it explains
};

// A sleep in whose place the path has what the waker did.
struct PathWait {
  std::uint64_t from = 0, to = 0;  // ticks
  TaskIndex task = kNoTask, waker = kNoTask;
  TypeIndex call = kNoType;      // as TaskActivity::Period::call
  std::uint32_t wait = kNoWait;  // the wait that it explains itself
  bool uninterruptible = false;
};

struct CriticalPath {
  std::vector<PathStep> steps;  // in time order, without gaps
  std::vector<PathWait> waits;  // each after the one that it explains
};

// Returns the path from `from` to `to` (ticks), or the part of this time in which the task lived;
// no steps: it did not live then. Precondition: the states keep their history.
CriticalPath critical_path(const TaskActivity& states, const Tasks& tasks, TaskIndex task,
                           std::uint64_t from, std::uint64_t to);

}  // namespace fkt
