// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/task_activity.h"

#include <algorithm>

namespace fkt {
namespace {

// Marks an interrupt in tags and wakers' keys.
constexpr std::uint64_t kOfInterrupt = std::uint64_t{1} << 63;

constexpr std::uint8_t kOffNot = 0,
                       kOffPreempted = 2;  // values of SpanTracker::Off in a checkpoint

}  // namespace

TaskActivity::TaskActivity(const Analysis& analysis)
    : analysis_(analysis),
      from_(analysis.selection().from.value_or(0)),
      who_runs_(analysis.info().command.mask) {
  if (const std::optional<Checkpoint>& checkpoint = analysis.info().checkpoint)
    restore(*checkpoint, CheckpointMapping::same(*checkpoint));
}

void TaskActivity::restart(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  finish(stretch_to_);
  restore(checkpoint, places);
}

void TaskActivity::restore(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  stretch_to_ = checkpoint.to;
  who_runs_.clear();
  for (std::vector<TypeIndex>& stack : interrupts_) stack.clear();
  for (Task& task : tasks_) {
    task.calls.clear();
    task.woken = false;
    task.doing = Doing::unknown;
  }
  const auto set = [&](TaskIndex index, Doing doing) {
    Task& task = at(index);
    task.doing = doing;
    task.since = checkpoint.from;
    task.before_cut = doing == Doing::asleep;
  };
  for (std::uint32_t i = 0; i < checkpoint.tasks.size(); i++) {
    const Checkpoint::Task& saved = checkpoint.tasks[i];
    constexpr std::uint32_t kGone = Checkpoint::gap | Checkpoint::exited | Checkpoint::left_dead;
    if (saved.off == kOffNot || (saved.flags & kGone) != 0) continue;
    set(places.tasks[i], saved.off == kOffPreempted ? Doing::ready : Doing::asleep);
  }
  for (const Checkpoint::Cpu& cpu : checkpoint.cpus) {
    const std::uint32_t running = cpu.next != Checkpoint::kNone ? cpu.next : cpu.current;
    if (running == Checkpoint::kNone) continue;
    set(places.tasks[running], Doing::running);
    who_runs_.runs(cpu.cpu, places.tasks[running]);
  }
}

TaskActivity::Task& TaskActivity::at(TaskIndex task) {
  if (task >= tasks_.size()) {
    tasks_.resize(task + 1);
    stats_.resize(task + 1);
  }
  return tasks_[task];
}

void TaskActivity::change(TaskIndex index, Doing doing, std::uint64_t clock) {
  Task& task = at(index);
  TaskStat& stat = stats_[index];
  const std::uint64_t since = std::max(task.since, from_);
  const std::uint64_t ticks = clock > since ? clock - since : 0;
  if (ticks > 0 && keep_) remember(task, since, clock);
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
      stat.in.add(task.calls.empty() ? kNoType : task.calls.back(), 1, ticks);
      break;
    default:
      break;
  }
  task.doing = doing;
  task.since = clock;
  task.before_cut = false;
}

void TaskActivity::remember(Task& task, std::uint64_t from, std::uint64_t to) {
  if (history_full() || task.doing == Doing::unknown || task.doing == Doing::dead) return;
  Stretch& stretch = task.history.emplace_back();
  stretches_++;
  stretch.from = from;
  stretch.to = to;
  stretch.doing = task.doing;
  stretch.call = task.calls.empty() ? kNoType : task.calls.back();
  if (!task.woken || task.doing == Doing::ready) return;
  stretch.by_interrupt = (task.waker & kOfInterrupt) != 0;
  stretch.waker = static_cast<std::uint32_t>(task.waker & ~kOfInterrupt);
}

// With a history, ends the stretch of a running task where a call begins or ends, because a stretch
// has one call.
void TaskActivity::split(TaskIndex task, std::uint64_t clock) {
  if (keep_ && at(task).doing == Doing::running) change(task, Doing::running, clock);
}

void TaskActivity::run(TaskIndex index, std::uint64_t clock) {
  Task& task = at(index);
  if (task.doing == Doing::running) return;
  if (task.before_cut) task.doing = Doing::ready;
  if (task.woken && clock >= from_) {
    const std::uint64_t ticks = clock > task.since ? clock - task.since : 0;
    stats_[index].wait.add(ticks);
    stats_[index].waits.add(ticks);
    const auto waker = stats_[index].wakers.find(task.waker);
    if (waker != stats_[index].wakers.end()) waker->second.wait += ticks;
  }
  task.woken = false;
  change(index, Doing::running, clock);
}

void TaskActivity::leave(const Event& event, TaskIndex index) {
  const auto becomes = [&](Doing doing) {
    // In another CPU's gap: the task may run there next.
    const bool hidden = who_runs_.in_gap() && !analysis_.tasks()[index].idle;
    change(index, hidden ? Doing::unknown : doing, event.clock);
    if (hidden) tasks_[index].calls.clear();
  };
  switch (event.id) {
    case FKT_E_SWITCH_R:
    case FKT_E_SWITCH_PREEMPT:
      stats_[index].preempted += event.clock >= from_;
      return becomes(Doing::ready);
    case FKT_E_SWITCH_D:
      return becomes(Doing::disk);
    case FKT_E_SWITCH_X:
    case FKT_E_SWITCH_Z:
      return change(index, Doing::dead, event.clock);
    default:
      return becomes(Doing::asleep);
  }
}

// Only a task that neither runs nor is ready is woken.
void TaskActivity::wake(const Event& event, TaskIndex waker) {
  const TaskIndex index = analysis_.tasks().find(event.arg & FKT_PID_MASK);
  // In a gap the task may run at once without being seen.
  if (index == kNoTask || analysis_.tasks()[index].left_dead || who_runs_.in_gap()) return;
  Task& task = at(index);
  if (task.doing == Doing::running || task.doing == Doing::ready) return;
  const bool interrupt = event.cpu < interrupts_.size() && !interrupts_[event.cpu].empty();
  const std::uint32_t who = interrupt ? interrupts_[event.cpu].back() : waker;
  task.woken = true;
  task.waker = who | (interrupt ? kOfInterrupt : 0);
  if (event.clock >= from_) {
    TaskStat& stat = stats_[index];
    stat.wakeups++;
    TaskStat::Waker& entry = stat.wakers[task.waker];
    entry.interrupt = interrupt;
    entry.who = who;
    entry.count++;
  }
  change(index, Doing::ready, event.clock);
}

void TaskActivity::begin_gap(const Event& event) {
  who_runs_.begin_gap(event.cpu);
  const auto tasks = static_cast<TaskIndex>(tasks_.size());
  const std::vector<bool> elsewhere = who_runs_.running_elsewhere(event.cpu, tasks);
  for (TaskIndex task = 0; task < tasks; task++) {
    if (elsewhere[task] || stays_on_another(analysis_.tasks()[task], event.cpu)) continue;
    change(task, Doing::unknown, event.clock);
    tasks_[task].woken = false;
    tasks_[task].calls.clear();
  }
}

// The thread that called execve continues under its leader's number.
void TaskActivity::exec(const Event& event, TaskIndex running) {
  if (event.words.empty()) return;
  const TaskIndex old =
      analysis_.tasks().find(static_cast<std::uint32_t>(event.words[0]) & FKT_PID_MASK);
  if (old == kNoTask || old == running) return;
  at(std::max(old, running));  // makes room for both
  tasks_[running].calls = std::move(tasks_[old].calls);
  tasks_[old].calls.clear();
  tasks_[old].went_on_as = running;
}

// The set of recorded layers changes: the exits of open calls may not be recorded.
void TaskActivity::forget(const Event& event) {
  who_runs_.set_mask(event.words.empty() ? 0 : event.words[0]);
  for (TaskIndex task = 0; task < tasks_.size(); task++) {
    split(task, event.clock);
    tasks_[task].calls.clear();
  }
}

void TaskActivity::add(const Event& event, const Analysis::Place& place) {
  if (event.id == kGapBegins) return begin_gap(event);
  at(place.task);
  if (who_runs_.surprises(event.cpu, place.task)) {
    const TaskIndex before = who_runs_.on(event.cpu);
    if (before != kNoTask) change(before, Doing::unknown, event.clock);
    who_runs_.runs(event.cpu, place.task);
    run(place.task, event.clock);
  }
  if (is_switch(event.id)) {
    leave(event, place.task);
    const std::uint32_t tid = event.arg & FKT_PID_MASK;
    // The analysis has applied the event, so it knows both tasks.
    const TaskIndex next =
        tid == 0 ? analysis_.tasks().find_idle(event.cpu) : analysis_.tasks().find(tid);
    at(next);
    who_runs_.switches(event.cpu, place.task, next);
    stats_[next].runs += event.clock >= from_;
    run(next, event.clock);
  } else if (is_wake_up(event.id)) {
    wake(event, place.task);
  } else if (event.id == FKT_E_EXEC) {
    exec(event, place.task);
  } else if (event.id == FKT_E_MASK) {
    forget(event);
  }
}

void TaskActivity::finish(std::uint64_t clock) {
  for (TaskIndex task = 0; task < tasks_.size(); task++) change(task, Doing::unknown, clock);
}

void TaskActivity::push(OpenSpan& call, const SpanPlace& place) {
  if (place.interrupt) {
    if (place.cpu >= interrupts_.size()) interrupts_.resize(place.cpu + 1);
    call.tag = kOfInterrupt | place.cpu;
    interrupts_[place.cpu].resize(place.depth);
    interrupts_[place.cpu].push_back(call.type);
  } else {
    call.tag = place.task;
    at(place.task).went_on_as = kNoTask;
    std::vector<TypeIndex>& calls = at(place.task).calls;
    calls.resize(place.depth, kNoType);
    calls.push_back(call.type);
  }
}

void TaskActivity::reopen(OpenSpan& call, const SpanPlace& place) {
  push(call, place);
}

void TaskActivity::begin(OpenSpan& call, const SpanPlace& place) {
  if (!place.interrupt) split(place.task, place.clock);
  push(call, place);
}

void TaskActivity::end(const OpenSpan& call, Outcome outcome, const SpanPlace& place) {
  if (call.tag == OpenSpan::kNoTag) return;
  // A task is still in a call whose exit is not in the recording; its next call replaces it. Calls
  // that a gap hides are removed where their time is accounted (begin_gap(), leave(), forget()).
  if (outcome != Outcome::complete && (call.tag & kOfInterrupt) == 0) return;
  auto number = static_cast<std::uint32_t>(call.tag & ~kOfInterrupt);
  if ((call.tag & kOfInterrupt) == 0 && at(number).went_on_as != kNoTask) {
    number = at(number).went_on_as;
  }
  if ((call.tag & kOfInterrupt) == 0 && place.clock != 0) split(number, place.clock);
  auto& open = (call.tag & kOfInterrupt) != 0 ? interrupts_[number] : at(number).calls;
  open.resize(std::min<std::size_t>(open.size(), place.depth));
}

std::vector<TaskRow> task_rows(const TaskActivity& states, const Analysis& analysis) {
  std::vector<TaskRow> rows;
  const auto escaped = [](std::string_view name) {
    TextWriter safe;
    safe.escaped(name);
    return std::string(safe.view());
  };
  for (TaskIndex task = 0; task < states.stats().size(); task++) {
    const TaskStat& stat = states.stats()[task];
    const TaskInfo& info = analysis.tasks()[task];
    if (info.idle || stat.running + stat.ready + stat.asleep + stat.disk == 0) continue;
    TaskRow& row = rows.emplace_back();
    row.name = escaped(analysis.tasks().name(task));
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
      const std::string name = in.type == kNoType ? "no call" : analysis.types()[in.type].name;
      row.in.push_back({name, in.count, in.ticks});
    }
    for (const auto& [key, waker] : stat.wakers) {
      const std::string name = waker.interrupt
                                   ? analysis.types()[waker.who].name
                                   : escaped(analysis.tasks().name(waker.who)) + " (" +
                                         std::to_string(analysis.tasks()[waker.who].tid) + ")";
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
