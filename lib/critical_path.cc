// SPDX-License-Identifier: GPL-2.0-only
#include "lib/critical_path.h"

#include <algorithm>
#include <map>

namespace fkt {
namespace {

using Doing = TaskStates::Doing;

constexpr std::size_t kEntry = 15, kTime = 12, kPid = 8;

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

PathStep step_of(const TaskStates::Stretch& stretch, const Open& open) {
  return {std::max(stretch.from, open.from),
          open.to,
          open.task,
          stretch.doing,
          stretch.call,
          stretch.by_interrupt,
          stretch.waker};
}

std::string who(const PathStep& step, const Analysis& analysis) {
  Writer name;
  name.escaped(analysis.tasks().name(step.task));
  return std::string(name.view());
}

std::string what(const PathStep& step, const Analysis& analysis) {
  const std::string call = step.call == kNoType ? "" : " in " + analysis.types()[step.call].name;
  switch (step.doing) {
    case Doing::running:
      return "running" + call;
    case Doing::ready:
      return "waiting for a CPU";
    case Doing::asleep:
    case Doing::disk:
      break;
    default:
      return "not known";
  }
  const std::string until = step.by_interrupt && step.waker != TaskStates::kNobody
                                ? ", woken by " + analysis.types()[step.waker].name
                                : "";
  return "asleep" + call + until;
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
    const bool slept = step.doing == Doing::asleep || step.doing == Doing::disk;
    // Only a sleep that is on the path up to its wake-up ended by it.
    const bool by_task = slept && stretch->waker != TaskStates::kNobody && !stretch->by_interrupt &&
                         stretch->to == step.to;
    if (by_task) {
      open.push_back({stretch->waker, step.from, step.to});
    } else {
      path.push_back(step);
    }
  }
  std::reverse(path.begin(), path.end());
  return path;
}

void write_critical_path(Writer& out, const std::vector<PathStep>& path, const Analysis& analysis,
                         const TimeFormat& time) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> sums;
  std::uint64_t all = 0;
  for (const PathStep& step : path) {
    sums[{who(step, analysis), what(step, analysis)}] += step.to - step.from;
    all += step.to - step.from;
  }
  std::vector<std::pair<std::uint64_t, std::pair<std::string, std::string>>> order;
  for (const auto& [key, ticks] : sums) order.push_back({ticks, key});
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& x, const auto& y) { return x.first > y.first; });
  out.right("Time", kTime);
  out.right("Percent", 9);
  out.put(" What\n");
  for (const auto& [ticks, key] : order) {
    time.right(out, ticks, kTime);
    Writer share;
    share.decimal(100. * static_cast<double>(ticks) / static_cast<double>(all), 2);
    out.right(share.view(), 8);
    out.put("% " + key.first + ", " + key.second + '\n');
  }
  out.put('\n');
  out.right("From", kEntry);
  out.right("Time", kTime + 1);
  out.right("Pid", kPid + 1);
  out.put(" Task, what\n");
  for (const PathStep& step : path) {
    time.right(out, step.from - std::min(step.from, analysis.start()), kEntry);
    out.put(' ');
    time.right(out, step.to - step.from, kTime);
    out.right(analysis.tasks()[step.task].tid, kPid + 1);
    out.put(' ' + who(step, analysis) + ", " + what(step, analysis) + '\n');
  }
}

}  // namespace fkt
