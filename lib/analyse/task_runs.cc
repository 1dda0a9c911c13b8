// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/task_runs.h"

#include <utility>

#include "lib/analyse/waker.h"

namespace fkt {

TaskRuns::TaskRuns(const Analysis& analysis, Sink sink)
    : analysis_(analysis), sink_(std::move(sink)), states_(analysis.info().command.mask) {
  if (const std::optional<Checkpoint>& checkpoint = analysis.info().checkpoint)
    restore(*checkpoint, CheckpointMapping::same(*checkpoint));
}

void TaskRuns::restart(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  finish(stretch_to_);
  on_.clear();
  tasks_.clear();
  restore(checkpoint, places);
}

void TaskRuns::restore(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  stretch_to_ = checkpoint.to;
  states_.restore(checkpoint, places);
  for (TaskIndex task = 0; task < states_.tasks().size(); task++) {
    const TaskStates::Now& now = states_.tasks()[task];
    if (now.state == TaskState::ready || now.state == TaskState::blocked) {
      off(task).since = now.since;
    } else if (now.state == TaskState::running) {
      if (now.cpu >= on_.size()) on_.resize(now.cpu + 1);
      Run& run = on_[now.cpu];
      run.task = task;
      run.cpu = now.cpu;
      run.from = now.since;
      run.begun = now.begun;
    }
  }
}

TaskRuns::Off& TaskRuns::off(TaskIndex task) {
  if (task >= tasks_.size()) tasks_.resize(task + 1);
  return tasks_[task];
}

void TaskRuns::show(Run& run, std::uint64_t clock, std::uint16_t left) {
  if (run.task == kNoTask || analysis_.tasks()[run.task].idle || clock <= run.from) return;
  if (clock < analysis_.selection().from.value_or(0)) return;
  run.to = clock;
  run.left = left;
  run.name = analysis_.tasks().name(run.task);
  sink_(run);
}

// Gets the changes of one event from TaskStates.
struct TaskRuns::Change {
  TaskRuns& runs_of;
  const Event& event;
  TaskIndex running;
  bool shown;

  // The task that the CPU ran until now has left it.
  void runs(std::uint32_t cpu, TaskIndex next, std::uint64_t clock, bool seen) {
    std::vector<Run>& on = runs_of.on_;
    if (cpu >= on.size()) on.resize(cpu + 1);
    if (shown) {
      const bool by_switch = seen && is_switch(event.id);
      runs_of.show(on[cpu], clock, by_switch ? event.id : std::uint16_t{0});
    }
    on[cpu] = {};
    on[cpu].task = next;
    on[cpu].cpu = cpu;
    on[cpu].from = clock;
    on[cpu].begun = seen;
  }
  void got_cpu(std::uint32_t cpu, TaskIndex index, const TaskStates::Now& now,
               std::uint64_t clock) {
    Run& run = runs_of.on_[cpu];
    run.delay = clock > now.since ? clock - now.since : 0;
    run.waker = std::move(runs_of.off(index).waker);
  }
  void changes(TaskIndex index, const TaskStates::Now& now, TaskState state, std::uint64_t clock,
               bool seen) {
    Off& off = runs_of.off(index);
    if (state == TaskState::unknown) {
      off = {};
    } else if (state == TaskState::running) {
      // The task comes to run on the event's CPU; runs() was called just before.
      Run& run = runs_of.on_[event.cpu];
      if (off.since != 0) run.waited = clock > off.since ? clock - off.since : 0;
      off = {};
    } else if (now.state == TaskState::running && seen) {
      off.since = clock;
    }
    if (state == TaskState::ready && is_wake_up(event.id)) {
      off.waker = waker_name(runs_of.analysis_, waker_of(runs_of.analysis_, event, running));
    }
  }
};

void TaskRuns::add(const Event& event, const Analysis::Found& place) {
  const Tasks& tasks = analysis_.tasks();
  const bool gap = event.id == kGapBegins;
  Change change{*this, event, place.task, gap ? shows_cut(event.cpu) : place.shown};
  if (gap) return states_.begin_gap(event, tasks, change);
  states_.arrive(event, place.task, change);
  if (is_switch(event.id)) {
    const std::uint32_t tid = event.arg & FKT_PID_MASK;
    // The analysis has applied the event, so it knows both tasks.
    const TaskIndex next = tid == 0 ? tasks.find_idle(event.cpu) : tasks.find(tid);
    states_.switches(event, place.task, next, tasks, change);
  } else if (is_wake_up(event.id)) {
    states_.wakes(event, place.task, analysis_.spans().innermost_interrupt(event.cpu), tasks,
                  change);
  } else if (event.id == FKT_E_MASK) {
    states_.masks(event);
  }
}

bool TaskRuns::shows_cut(std::uint32_t cpu) const {
  const Selection& selection = analysis_.selection();
  const bool of_events =
      selection.where || selection.dump_pid || selection.layer || !selection.parts.empty();
  return !of_events && (!selection.cpu || *selection.cpu == cpu);
}

void TaskRuns::finish(std::uint64_t clock) {
  for (Run& run : on_) {
    if (!shows_cut(run.cpu)) continue;
    show(run, analysis_.unknown_ends().known_until(run.cpu, clock), 0);
  }
}

}  // namespace fkt
