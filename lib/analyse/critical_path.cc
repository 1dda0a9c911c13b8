// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/critical_path.h"

#include <algorithm>

namespace fkt {
namespace {

using Doing = TaskActivity::Doing;

// A part of the path that is not yet explained: `task` from `from` to `to` (ticks), in place of a
// wait.
struct Open {
  TaskIndex task;
  std::uint64_t from, to;
  std::uint32_t wait = kNoWait;
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
          period.waker,
          open.wait};
}

// Returns the task whose doings explain the sleep; kNoTask: none.
TaskIndex explaining(const TaskActivity& states, const TaskActivity::Period& sleep) {
  const TaskIndex waker = sleep.by_interrupt ? sleep.raiser : sleep.waker;
  if (waker == kNoTask || sleeps(before(states.history(waker), sleep.to))) return kNoTask;
  return waker;
}

// Returns from when on a task that was forked at or after open.from is the path itself, and not its
// parent: from its first wake-up on, if up to then the parent was about to make it.
std::uint64_t first_own(const TaskActivity& states, const Tasks& tasks, const Open& open) {
  const TaskInfo& task = tasks[open.task];
  if (task.parent == kNoTask || task.born < open.from) return open.from;
  const std::vector<TaskActivity::Period>& own = states.history(open.task);
  const std::uint64_t first = own.empty() ? task.born : std::min(own.front().from, open.to);
  std::uint64_t at = std::max(first, task.born);
  while (at > task.born) {
    const TaskActivity::Period* parent = before(states.history(task.parent), at);
    if (parent == nullptr || sleeps(parent) || parent->to < at) return task.born;
    at = parent->from;
  }
  return std::max(first, task.born);
}

// Returns when the task ended (ticks): nothing is known of a task after its last switch.
std::uint64_t end_of(const std::vector<TaskActivity::Period>& history, const TaskInfo& task,
                     std::uint64_t to) {
  if (!task.left_dead && !(task.exited && task.freed)) return to;
  return history.empty() ? 0 : std::min(to, history.back().to);
}

}  // namespace

CriticalPath critical_path(const TaskActivity& states, const Tasks& tasks, TaskIndex task,
                           std::uint64_t from, std::uint64_t to) {
  CriticalPath found;
  std::vector<PathStep>& path = found.steps;  // last step first; reversed at the end
  std::vector<Open> open{
      {task, std::max(from, tasks[task].born), end_of(states.history(task), tasks[task], to)}};
  while (!open.empty()) {
    Open& now = open.back();
    if (now.to <= now.from) {
      open.pop_back();
      continue;
    }
    if (const std::uint64_t own = first_own(states, tasks, now); own > now.from) {
      const Open rest{now.task, own, now.to, now.wait};
      now = {tasks[now.task].parent, now.from, std::min(own, now.to), now.wait};
      open.push_back(rest);
      continue;
    }
    const TaskActivity::Period* period = before(states.history(now.task), now.to);
    const std::uint64_t known = period == nullptr ? now.from : std::max(period->to, now.from);
    if (period == nullptr || known < now.to) {
      path.push_back({.from = known, .to = now.to, .task = now.task, .wait = now.wait});
      now.to = known;
      continue;
    }
    const PathStep step = step_of(*period, now);
    now.to = step.from;
    // The wake-up explains the sleep only if the sleep lasted up to the end of this part.
    const bool woken = sleeps(period) && period->to == step.to;
    const TaskIndex waker = woken ? explaining(states, *period) : kNoTask;
    if (waker != kNoTask) {
      const auto wait = static_cast<std::uint32_t>(found.waits.size());
      found.waits.push_back(
          {step.from, step.to, step.task, waker, step.call, step.wait, step.doing == Doing::disk});
      open.push_back({waker, step.from, step.to, wait});
    } else {
      path.push_back(step);
    }
  }
  std::reverse(path.begin(), path.end());
  return found;
}

}  // namespace fkt
