// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/critical_path.h"

#include <algorithm>

namespace fkt {
namespace {

using Doing = TaskActivity::Doing;

// A part of the path that is not yet explained: `task` from `from` to `to` (ticks).
struct Open {
  TaskIndex task;
  std::uint64_t from, to;
};

// Returns the task's last period that begins before `to` (ticks); nullptr: none is known.
const TaskActivity::Period* before(const std::vector<TaskActivity::Period>& history,
                                   std::uint64_t to) {
  const auto after =
      std::lower_bound(history.begin(), history.end(), to,
                       [](const TaskActivity::Period& s, std::uint64_t at) { return s.from < at; });
  return after == history.begin() ? nullptr : &*std::prev(after);
}

// Returns true if the task slept. The waker of a sleep must not have slept itself at the time of
// the wake-up: only a recording that contradicts itself says so, and following it would not end.
bool sleeps(const TaskActivity::Period* period) {
  return period != nullptr && (period->doing == Doing::asleep || period->doing == Doing::disk);
}

PathStep step_of(const TaskActivity::Period& period, const Open& open) {
  return {std::max(period.from, open.from),
          open.to,
          open.task,
          period.doing,
          period.call,
          period.by_interrupt,
          period.waker};
}

}  // namespace

std::vector<PathStep> critical_path(const TaskActivity& states, TaskIndex task, std::uint64_t from,
                                    std::uint64_t to) {
  std::vector<PathStep> path;  // last step first; reversed at the end
  std::vector<Open> open{{task, from, to}};
  while (!open.empty()) {
    Open& now = open.back();
    if (now.to <= now.from) {
      open.pop_back();
      continue;
    }
    const TaskActivity::Period* period = before(states.history(now.task), now.to);
    const std::uint64_t known = period == nullptr ? now.from : std::max(period->to, now.from);
    if (period == nullptr || known < now.to) {
      path.push_back({.from = known, .to = now.to, .task = now.task});
      now.to = known;
      continue;
    }
    const PathStep step = step_of(*period, now);
    now.to = step.from;
    const bool slept = sleeps(period);
    // The wake-up explains the sleep only if the sleep lasted up to the end of this part.
    const bool by_task = slept && period->waker != TaskActivity::kNoWaker &&
                         !period->by_interrupt && period->to == step.to &&
                         !sleeps(before(states.history(period->waker), step.to));
    if (by_task) {
      open.push_back({period->waker, step.from, step.to});
    } else {
      path.push_back(step);
    }
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace fkt
