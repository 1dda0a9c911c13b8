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

// Returns the task's last stretch that begins before `to` (ticks); nullptr: none is known.
const TaskActivity::Stretch* before(const std::vector<TaskActivity::Stretch>& history,
                                    std::uint64_t to) {
  const auto after = std::lower_bound(
      history.begin(), history.end(), to,
      [](const TaskActivity::Stretch& s, std::uint64_t at) { return s.from < at; });
  return after == history.begin() ? nullptr : &*std::prev(after);
}

// Returns true if the task slept. The waker of a sleep must not have slept itself at the time of
// the wake-up: only a recording that contradicts itself says so, and following it would not end.
bool sleeps(const TaskActivity::Stretch* stretch) {
  return stretch != nullptr && (stretch->doing == Doing::asleep || stretch->doing == Doing::disk);
}

PathStep step_of(const TaskActivity::Stretch& stretch, const Open& open) {
  return {std::max(stretch.from, open.from),
          open.to,
          open.task,
          stretch.doing,
          stretch.call,
          stretch.by_interrupt,
          stretch.waker};
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
    const TaskActivity::Stretch* stretch = before(states.history(now.task), now.to);
    const std::uint64_t known = stretch == nullptr ? now.from : std::max(stretch->to, now.from);
    if (stretch == nullptr || known < now.to) {
      path.push_back({.from = known, .to = now.to, .task = now.task});
      now.to = known;
      continue;
    }
    const PathStep step = step_of(*stretch, now);
    now.to = step.from;
    const bool slept = sleeps(stretch);
    // The wake-up explains the sleep only if the sleep lasted up to the end of this part.
    const bool by_task = slept && stretch->waker != TaskActivity::kNoWaker &&
                         !stretch->by_interrupt && stretch->to == step.to &&
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
