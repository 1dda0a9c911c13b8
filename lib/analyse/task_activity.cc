// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/task_activity.h"

#include <algorithm>
#include <string>

#include "lib/analyse/waker.h"

namespace fkt {
namespace {

// Marks an interrupt in wakers' keys.
constexpr std::uint64_t kOfInterrupt = std::uint64_t{1} << 63;

// Returns what a task in this state is doing. id: of the event that says so.
TaskActivity::Doing doing_of(TaskState state, std::uint16_t id) {
  using Doing = TaskActivity::Doing;
  switch (state) {
    case TaskState::running:
      return Doing::running;
    case TaskState::ready:
      return Doing::ready;
    case TaskState::blocked:
      return id == FKT_E_SWITCH_D ? Doing::disk : Doing::asleep;
    default:
      return Doing::unknown;
  }
}

}  // namespace

TaskActivity::TaskActivity(const Analysis& analysis)
    : analysis_(analysis),
      from_(analysis.selection().from.value_or(0)),
      states_(analysis.info().command.mask) {
  if (const std::optional<Checkpoint>& checkpoint = analysis.info().checkpoint)
    restore(*checkpoint, CheckpointMapping::same(*checkpoint));
}

void TaskActivity::restart(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  finish(stretch_to_);
  restore(checkpoint, places);
}

void TaskActivity::restore(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  stretch_to_ = checkpoint.to;
  states_.restore(checkpoint, places);
  for (Task& task : tasks_) {
    task.call = kNoType;
    task.woken = false;
    task.doing = Doing::unknown;
  }
  for (TaskIndex index = 0; index < states_.tasks().size(); index++) {
    const TaskState state = states_.tasks()[index].state;
    if (state == TaskState::unknown) continue;
    Task& task = at(index);
    task.doing = doing_of(state, 0);
    task.since = checkpoint.from;
  }
}

void TaskActivity::grow(TaskIndex task) {
  tasks_.resize(task + 1);
  stats_.resize(task + 1);
}

void TaskActivity::change(TaskIndex index, Doing doing, std::uint64_t clock) {
  Task& task = at(index);
  TaskStat& stat = stats_[index];
  const std::uint64_t since = std::max(task.since, from_);
  const std::uint64_t ticks = clock > since ? clock - since : 0;
  const Period period = period_of(task, since, clock);
  if (ticks > 0 && task.doing != Doing::unknown) {
    if (keep_ && !history_full()) {
      task.history.push_back(period);
      periods_++;
    }
    if (sink_) sink_(index, period);
  }
  switch (task.doing) {
    case Doing::running:
      stat.running += ticks;
      break;
    case Doing::ready:
      stat.ready += ticks;
      break;
    case Doing::asleep:
    case Doing::disk:
      (task.doing == Doing::disk ? stat.disk : stat.asleep) += ticks;
      if (ticks == 0) break;
      stat.in.add(period.call, 1, ticks);
      break;
    default:
      break;
  }
  task.doing = doing;
  task.since = clock;
}

TaskActivity::Period TaskActivity::period_of(const Task& task, std::uint64_t from,
                                             std::uint64_t to) {
  Period period;
  period.from = from;
  period.to = to;
  period.doing = task.doing;
  period.call = task.call;
  const bool slept = task.doing == Doing::asleep || task.doing == Doing::disk;
  if (slept && task.call == kNoType && task.faulted) period.call = kPageFault;
  if (!task.woken || task.doing == Doing::ready) return period;
  period.by_interrupt = (task.waker & kOfInterrupt) != 0;
  period.waker = static_cast<std::uint32_t>(task.waker & ~kOfInterrupt);
  period.raiser = task.raiser;
  return period;
}

// With a history, ends the period of a running task where a call begins or ends, because a period
// has one call.
void TaskActivity::split(TaskIndex task, std::uint64_t clock) {
  if (keep_ && at(task).doing == Doing::running) change(task, Doing::running, clock);
}

// Gets the changes of one event from TaskStates.
struct TaskActivity::Change {
  TaskActivity& activity;
  const Event& event;
  TaskIndex running;

  void runs(std::uint32_t, TaskIndex, std::uint64_t, bool) {}
  void got_cpu(std::uint32_t cpu, TaskIndex index, const TaskStates::Now& now, std::uint64_t clock);
  void changes(TaskIndex index, const TaskStates::Now& now, TaskState state, std::uint64_t clock,
               bool seen);
  void woken(TaskIndex index);
};

void TaskActivity::Change::got_cpu(std::uint32_t, TaskIndex index, const TaskStates::Now& now,
                                   std::uint64_t clock) {
  if (clock < activity.from_) return;
  const std::uint64_t ticks = clock > now.since ? clock - now.since : 0;
  TaskStat& stat = activity.stats_[index];
  stat.wait.add(ticks);
  stat.waits.add(ticks);
  const auto waker = stat.wakers.find(activity.tasks_[index].waker);
  if (waker != stat.wakers.end()) waker->second.wait += ticks;
}

void TaskActivity::Change::changes(TaskIndex index, const TaskStates::Now& now, TaskState state,
                                   std::uint64_t clock, bool) {
  Task& task = activity.at(index);
  if (state == TaskState::running) {
    if (now.state == TaskState::running) return;
    if (now.state == TaskState::ready) task.doing = Doing::ready;  // it was ready at the cut
  }
  if (state == TaskState::ready && is_wake_up(event.id)) woken(index);
  if (state == TaskState::running || state == TaskState::unknown) task.woken = false;
  activity.change(index, doing_of(state, event.id), clock);
}

void TaskActivity::Change::woken(TaskIndex index) {
  const auto [by_interrupt, source] = waker_of(activity.analysis_, event, running);
  Task& task = activity.tasks_[index];
  task.woken = true;
  task.waker = source | (by_interrupt ? kOfInterrupt : 0);
  task.raiser =
      by_interrupt ? activity.raised_.raiser(event.cpu, activity.analysis_.spans()) : kNoTask;
  if (event.clock < activity.from_) return;
  TaskStat& stat = activity.stats_[index];
  stat.wakeups++;
  TaskStat::Waker& entry = stat.wakers[task.waker];
  entry.interrupt = by_interrupt;
  entry.source = source;
  entry.count++;
}

void TaskActivity::reread_all() {
  for (TaskIndex task = 0; task < tasks_.size(); task++) reread(task);
}

// A thread that calls execve may have the number of another one from here on, whose calls become
// its own; what its old program was in has ended.
void TaskActivity::exec(const Event& event, TaskIndex running) {
  if (analysis_.spans().innermost(running) != at(running).call) split(running, event.clock);
  reread(running);
  if (event.words.empty()) return;
  const TaskIndex old =
      analysis_.tasks().find(static_cast<std::uint32_t>(event.words[0]) & FKT_PID_MASK);
  if (old != kNoTask) reread(old);
}

void TaskActivity::add(const Event& event, TaskIndex running) {
  const Tasks& tasks = analysis_.tasks();
  Change change{*this, event, running};
  if (keep_) raised_.add(event, running, analysis_.spans());
  if (event.id == kGapBegins) {
    states_.begin_gap(event, tasks, change);
    return reread_all();
  }
  at(running);
  states_.arrive(event, running, change);
  if (is_switch(event.id)) {
    const std::uint32_t tid = event.arg & FKT_PID_MASK;
    // The analysis has applied the event, so it knows both tasks.
    const TaskIndex next = tid == 0 ? tasks.find_idle(event.cpu) : tasks.find(tid);
    at(next);
    const bool counts = event.clock >= from_;
    const bool runnable = event.id == FKT_E_SWITCH_R || event.id == FKT_E_SWITCH_PREEMPT;
    stats_[running].preempted += counts && runnable;
    stats_[next].runs += counts;
    states_.switches(event, running, next, tasks, change);
    reread(running);
  } else if (is_wake_up(event.id)) {
    states_.wakes(event, running, analysis_.spans().innermost_interrupt(event.cpu), tasks, change);
  } else if (event.id == FKT_E_FAULT_USER) {
    at(running).faulted = true;
  } else if (event.id == FKT_E_EXEC) {
    exec(event, running);
  } else if (event.id == FKT_E_MASK) {
    states_.masks(event);
    for (TaskIndex task = 0; task < tasks_.size(); task++) split(task, event.clock);
    reread_all();
  }
}

void TaskActivity::add_burst(std::uint32_t cpu, TaskIndex running, std::uint64_t clock,
                             bool calls) {
  Event first;
  first.clock = clock;
  first.cpu = cpu;
  Change change{*this, first, running};
  Task& task = at(running);
  states_.arrive(first, running, change);
  if (!calls) return;
  task.call = analysis_.spans().innermost(running);
  task.faulted = false;
}

void TaskActivity::finish(std::uint64_t clock) {
  const UnknownEnds& unknown = analysis_.unknown_ends();
  for (TaskIndex task = 0; task < tasks_.size(); task++) {
    const bool runs = tasks_[task].doing == Doing::running;
    const std::uint32_t cpu = runs ? states_.tasks()[task].cpu : 0;
    change(task, Doing::unknown, runs ? unknown.known_until(cpu, clock) : clock);
  }
}

void TaskActivity::reopen(OpenSpan& call, const SpanPosition& place) {
  if (!place.interrupt) at(place.task).call = call.type;
}

void TaskActivity::begin(OpenSpan& call, const SpanPosition& place) {
  if (place.interrupt) return;
  split(place.task, place.clock);
  at(place.task).call = call.type;
  at(place.task).faulted = false;
}

// A task is still in a call whose end is not in the recording; its next call replaces it. Where
// calls are dropped for other reasons, add() asks which one is left.
void TaskActivity::end(const OpenSpan&, Outcome outcome, const SpanPosition& place) {
  if (outcome != Outcome::complete || place.interrupt) return;
  split(place.task, place.clock);
  at(place.task).call = place.around != nullptr ? place.around->type : kNoType;
  at(place.task).faulted = false;
}

void TaskActivity::charge(const OpenSpan* call, std::uint32_t task, CpuState state,
                          std::uint64_t ticks) {
  if (!times_) return;
  at(task);
  if (state == CpuState::irq || state == CpuState::softirq) {
    stats_[task].interrupts += ticks;
  } else {
    stats_[task].ran_in.add(call != nullptr ? call->type : kNoType, 1, ticks);
  }
}

std::string_view call_name(const Analysis& analysis, TypeIndex call) {
  if (call == TaskActivity::kPageFault) return "page fault";
  return call == kNoType ? std::string_view("no call")
                         : std::string_view(analysis.types()[call].name);
}

std::vector<TaskRow> task_rows(const TaskActivity& states, const Analysis& analysis) {
  std::vector<TaskRow> rows;
  for (TaskIndex task = 0; task < states.stats().size(); task++) {
    const TaskStat& stat = states.stats()[task];
    const TaskInfo& info = analysis.tasks()[task];
    if (!analysis.is_own(task)) continue;
    if (info.idle || stat.running + stat.ready + stat.asleep + stat.disk == 0) continue;
    TaskRow& row = rows.emplace_back();
    row.name = analysis.tasks().name(task);
    row.pid = info.tid;
    row.stat = stat;
    const auto percentile = [&](double percent) {
      if (stat.wait.count == 0) return std::uint64_t{0};
      return std::clamp(stat.waits.percentile(percent), stat.wait.min, stat.wait.max);
    };
    row.p50 = percentile(50);
    row.p90 = percentile(90);
    row.p99 = percentile(99);
    for (const Child& in : stat.in) {
      row.in.push_back({std::string(call_name(analysis, in.type)), in.count, in.ticks});
    }
    for (const auto& [key, waker] : stat.wakers) {
      const std::string name = waker_name(analysis, {waker.interrupt, waker.source});
      row.wakers.push_back({name, waker.count, waker.wait});
    }
    std::sort(row.in.begin(), row.in.end(),
              [](const auto& x, const auto& y) { return x.time > y.time; });
    std::sort(row.wakers.begin(), row.wakers.end(), [](const auto& x, const auto& y) {
      return x.count != y.count ? x.count > y.count : x.name < y.name;
    });
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& x, const auto& y) { return x.stat.running > y.stat.running; });
  return rows;
}

}  // namespace fkt
