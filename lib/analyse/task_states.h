// SPDX-License-Identifier: GPL-2.0-only
// TaskStates: which task each CPU runs, and what each task is doing: it runs, waits for a CPU, or
// sleeps. The rules by which events change that are only here; lib/analyse/task_activity.h
// (figures) and lib/timeline/state_tracker.h (the timeline) use them.
//
// A task runs from the switch that names it to the switch by which it leaves; it is ready from its
// wake-up on, or after a switch that leaves it runnable. Its state is unknown before its first
// event, and from a gap on until it is seen again (lib/analyse/running_tasks.h). A slice's
// checkpoint tells which tasks ran, were preempted or slept, but not whether one that slept had
// been woken already: it had if it runs without a wake-up.
//
// It is a value: a copy continues from the state that was copied.
//
// The functions of `observer` are called before each change:
//   changes(task, now, state, clock, seen)  the task, which is in the state `now`, comes to `state`
//                                           at `clock` (ticks); seen: an event said so
//   runs(cpu, task, clock, seen)            the CPU runs the task from `clock` on; kNoTask: it is
//                                           not known what it runs
//   got_cpu(cpu, task, now, clock)          the task, which is in the state `now` since a wake-up,
//                                           comes to run on the CPU
#pragma once

#include <cstdint>
#include <vector>

#include "lib/analyse/running_tasks.h"
#include "lib/analyse/span_types.h"
#include "lib/analyse/tasks.h"
#include "lib/format/checkpoint.h"

namespace fkt {

enum class TaskState : std::uint8_t { unknown, running, ready, blocked };

class TaskStates {
 public:
  struct Now {
    TaskState state = TaskState::unknown;
    bool begun = false;       // the begin of the state was seen, at `since`
    bool before_cut = false;  // the state began before the slice
    std::uint32_t cpu = 0;    // the CPU where it runs or ran last
    std::uint32_t waker_cpu = 0;
    // Of a ready task that slept: the task that ran where the wake-up came from, and the innermost
    // interrupt there, which then is what woke it.
    TaskIndex waker = kNoTask;
    TypeIndex interrupt = kNoType;
    std::uint64_t since = 0;  // ticks
  };

  // mask: the recorded layers (a bit each).
  explicit TaskStates(std::uint64_t mask) : running_tasks_(mask) {}

  // Call for the begin of a gap.
  template <class Observer>
  void begin_gap(const Event& event, const Tasks& tasks, Observer& observer);
  // Call for each other event before it is applied to anything: it shows that its CPU runs
  // `running`. Of several events of one CPU by one task, with nothing else between that changes
  // which task runs, the first one is enough.
  template <class Observer>
  void arrive(const Event& event, TaskIndex running, Observer& observer);
  // Call for a switch, a wake-up and a change of the mask, after `tasks` has applied it. next: the
  // task that the switch names. interrupt: the innermost one on the CPU; kNoType: none.
  template <class Observer>
  void switches(const Event& event, TaskIndex running, TaskIndex next, const Tasks& tasks,
                Observer& observer);
  template <class Observer>
  void wakes(const Event& event, TaskIndex running, TypeIndex interrupt, const Tasks& tasks,
             Observer& observer);
  void masks(const Event& event) {
    running_tasks_.set_mask(event.words.empty() ? 0 : event.words[0]);
  }

  // Continues from the state in the checkpoint.
  void restore(const Checkpoint& checkpoint, const CheckpointMapping& places);

  // By TaskIndex; the state of later ones is unknown.
  const std::vector<Now>& tasks() const { return tasks_; }
  Now& task(TaskIndex index) {
    if (index >= tasks_.size()) tasks_.resize(index + 1);
    return tasks_[index];
  }
  const RunningTasks& running_tasks() const { return running_tasks_; }
  // Returns a copy in which no task's state is known.
  TaskStates without_tasks() const {
    TaskStates states(running_tasks_);
    states.cut_from_ = cut_from_;
    return states;
  }

 private:
  explicit TaskStates(const RunningTasks& running_tasks) : running_tasks_(running_tasks) {}
  template <class Observer>
  void change(TaskIndex index, TaskState state, std::uint64_t clock, bool seen,
              Observer& observer) {
    Now& now = task(index);
    observer.changes(index, now, state, clock, seen);
    now.state = state;
    now.since = clock;
    now.begun = seen;
    now.before_cut = false;
  }
  template <class Observer>
  void run(std::uint32_t cpu, TaskIndex next, std::uint64_t clock, bool seen, Observer& observer);

  RunningTasks running_tasks_;
  std::vector<Now> tasks_;
  std::uint64_t cut_from_ = 0;  // begin of the slice (ticks)
};

// From `clock` on, `next` runs on the CPU; kNoTask: unknown. seen: the switch was seen.
template <class Observer>
void TaskStates::run(std::uint32_t cpu, TaskIndex next, std::uint64_t clock, bool seen,
                     Observer& observer) {
  observer.runs(cpu, next, clock, seen);
  if (next == kNoTask) return;
  Now& now = task(next);
  if (now.before_cut && now.state == TaskState::blocked) {
    // No wake-up was seen since the cut: the task was already awake at the cut and only waited for
    // this CPU.
    now.state = TaskState::ready;
    now.since = cut_from_;
    now.begun = false;
  }
  if (now.state == TaskState::ready && now.waker != kNoTask) {
    observer.got_cpu(cpu, next, now, clock);
  }
  change(next, TaskState::running, clock, seen, observer);
  Now& runner = task(next);
  runner.cpu = cpu;
  runner.waker = kNoTask;
}

template <class Observer>
void TaskStates::arrive(const Event& event, TaskIndex running, Observer& observer) {
  if (!running_tasks_.surprises(event.cpu, running)) return;
  // The CPU's first event, the first one after a gap, or one after a switch that was not seen.
  const TaskIndex before = running_tasks_.on(event.cpu);
  if (before != kNoTask) change(before, TaskState::unknown, event.clock, false, observer);
  running_tasks_.runs(event.cpu, running);
  run(event.cpu, running, event.clock, false, observer);
}

template <class Observer>
void TaskStates::switches(const Event& event, TaskIndex running, TaskIndex next, const Tasks& tasks,
                          Observer& observer) {
  TaskState state = TaskState::blocked;
  if (event.id == FKT_E_SWITCH_R || event.id == FKT_E_SWITCH_PREEMPT) state = TaskState::ready;
  if (event.id == FKT_E_SWITCH_X || event.id == FKT_E_SWITCH_Z) state = TaskState::unknown;
  // While another CPU is in a gap, the task may run there next.
  if (running_tasks_.in_gap() && !tasks[running].idle) state = TaskState::unknown;
  change(running, state, event.clock, true, observer);
  running_tasks_.switches(event.cpu, running, next);
  run(event.cpu, next, event.clock, true, observer);
}

template <class Observer>
void TaskStates::wakes(const Event& event, TaskIndex running, TypeIndex interrupt,
                       const Tasks& tasks, Observer& observer) {
  const TaskIndex index = tasks.find(event.arg & FKT_PID_MASK);
  // While a CPU is in a gap, the task may run there at once, unseen.
  if (index == kNoTask || tasks[index].left_dead || running_tasks_.in_gap()) return;
  const TaskState state = task(index).state;
  // The second event of one wake-up, or a wake-up that came before the task went to sleep.
  if (state == TaskState::ready || state == TaskState::running) return;
  change(index, TaskState::ready, event.clock, true, observer);
  Now& now = task(index);
  now.waker = running;
  now.interrupt = interrupt;
  now.waker_cpu = event.cpu;
}

template <class Observer>
void TaskStates::begin_gap(const Event& event, const Tasks& tasks, Observer& observer) {
  running_tasks_.begin_gap(event.cpu);
  run(event.cpu, kNoTask, event.clock, false, observer);
  const auto count = static_cast<TaskIndex>(tasks_.size());
  const std::vector<bool> elsewhere = running_tasks_.running_elsewhere(event.cpu, count);
  for (TaskIndex index = 0; index < count; index++) {
    if (elsewhere[index] || stays_on_another(tasks[index], event.cpu)) continue;
    if (tasks_[index].state != TaskState::unknown) {
      change(index, TaskState::unknown, event.clock, false, observer);
    }
    tasks_[index].waker = kNoTask;
  }
}

inline void TaskStates::restore(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  running_tasks_.clear();
  tasks_.clear();
  cut_from_ = checkpoint.from;
  for (std::uint32_t number = 0; number < checkpoint.tasks.size(); number++) {
    const Checkpoint::Task& saved = checkpoint.tasks[number];
    Now& now = task(places.tasks[number]);
    now.cpu = saved.cpu;
    constexpr std::uint32_t kGone = Checkpoint::gap | Checkpoint::exited | Checkpoint::left_dead;
    if (saved.off == Checkpoint::Off::no || (saved.flags & kGone) != 0) continue;
    now.state = saved.off == Checkpoint::Off::preempted ? TaskState::ready : TaskState::blocked;
    now.since = saved.since;
    now.begun = now.before_cut = true;
  }
  for (const Checkpoint::Cpu& saved : checkpoint.cpus) {
    const bool switched = saved.next != Checkpoint::kNone;
    const TaskIndex running = places.task(switched ? saved.next : saved.current);
    if (running == kNoTask) continue;
    running_tasks_.runs(saved.cpu, running);
    Now& runner = task(running);
    runner.state = TaskState::running;
    runner.cpu = saved.cpu;
    // Without a switch `since` may be its first event only: the checkpoint does not say.
    runner.begun = switched;
    runner.since = switched ? saved.last : checkpoint.tasks[saved.current].since;
  }
}

}  // namespace fkt
