// SPDX-License-Identifier: GPL-2.0-only
// The critical path of a task between two moments: what it would have had to do faster to be done
// earlier. From the end backwards: while the task ran or waited for a CPU, that; while it slept,
// what the task that woke it did meanwhile; and so on. Where an interrupt woke it, or nobody that
// was seen, it waited for a device or a timer, and the sleep itself is the path.
#pragma once

#include <vector>

#include "lib/task_states.h"

namespace fkt {

struct PathStep {
  std::uint64_t from = 0, to = 0;  // ticks
  TaskIndex task = kNoTask;
  TaskStates::Doing doing = TaskStates::Doing::unknown;  // unknown: nothing is known of that time
  TypeIndex call = kNoType;
  bool by_interrupt = false;
  std::uint32_t waker = TaskStates::kNobody;  // of a sleep that is on the path
};

// In time order, without holes: from `from` to `to` (ticks). The states keep their history.
std::vector<PathStep> critical_path(const TaskStates& states, TaskIndex task, std::uint64_t from,
                                    std::uint64_t to);

}  // namespace fkt
