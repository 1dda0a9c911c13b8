// SPDX-License-Identifier: GPL-2.0-only
#include "lib/critical_path.h"

#include <algorithm>

namespace fkt {
namespace {

using Doing = TaskStates::Doing;

// What is still to be explained: `task` from `from` to `to`.
struct Open {
  TaskIndex task;
  std::uint64_t from, to;
};

// The task's stretch that ends at `to` or lies around it; nullptr: nothing is known of it.
const TaskStates::Stretch* before(const std::vector<TaskStates::Stretch>& history,
                                  std::uint64_t to) {
  const auto after =
      std::lower_bound(history.begin(), history.end(), to,
                       [](const TaskStates::Stretch& s, std::uint64_t at) { return s.from < at; });
  return after == history.begin() ? nullptr : &*std::prev(after);
}

// A recording that contradicts itself may say so of a task that woke another one at that time: to
// follow it would never end.
bool sleeps(const TaskStates::Stretch* stretch) {
  return stretch != nullptr && (stretch->doing == Doing::asleep || stretch->doing == Doing::disk);
}

PathStep step_of(const TaskStates::Stretch& stretch, const Open& open) {
  return {std::max(stretch.from, open.from),
          open.to,
          open.task,
          stretch.doing,
          stretch.call,
          stretch.by_interrupt,
          stretch.waker};
}

}  // namespace

std::vector<PathStep> critical_path(const TaskStates& states, TaskIndex task, std::uint64_t from,
                                    std::uint64_t to) {
  std::vector<PathStep> path;  // from its end
  std::vector<Open> open{{task, from, to}};
  while (!open.empty()) {
    Open& now = open.back();
    if (now.to <= now.from) {
      open.pop_back();
      continue;
    }
    const TaskStates::Stretch* stretch = before(states.history(now.task), now.to);
    const std::uint64_t known = stretch == nullptr ? now.from : std::max(stretch->to, now.from);
    if (stretch == nullptr || known < now.to) {
      path.push_back({.from = known, .to = now.to, .task = now.task});
      now.to = known;
      continue;
    }
    const PathStep step = step_of(*stretch, now);
    now.to = step.from;
    const bool slept = sleeps(stretch);
    // Only a sleep that is on the path up to its wake-up ended by it.
    const bool by_task = slept && stretch->waker != TaskStates::kNobody && !stretch->by_interrupt &&
                         stretch->to == step.to &&
                         !sleeps(before(states.history(stretch->waker), step.to));
    if (by_task) {
      open.push_back({stretch->waker, step.from, step.to});
    } else {
      path.push_back(step);
    }
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace fkt
