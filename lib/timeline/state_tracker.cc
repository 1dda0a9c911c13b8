// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/state_tracker.h"

#include <algorithm>

namespace fkt {
namespace {

constexpr std::size_t kDeepest = 255;  // slices that nest deeper are reported at this depth
constexpr std::uint8_t kOffNot = 0,
                       kOffPreempted = 2;  // values of SpanTracker::Off in a checkpoint
constexpr std::size_t kOfMalloc = 16;      // overhead of malloc() per allocation (bytes)

}  // namespace

StateTracker::StateTracker(const TraceInfo& info, const Meanings& meanings, SpanTypes& types)
    : meanings_(&meanings), types_(&types), tasks_(info), who_runs_(info.command.mask) {
  if (info.checkpoint) restore(*info.checkpoint, CheckpointMapping::same(*info.checkpoint));
}

void StateTracker::restart(const Checkpoint& checkpoint) {
  cpus_.clear();
  who_runs_.clear();
  states_.clear();
  CheckpointMapping places;
  places.tasks = tasks_.restore(checkpoint);
  places.types = types_->restore(checkpoint);
  restore(checkpoint, places);
}

std::vector<StateTracker::Open> StateTracker::opened(const std::vector<Checkpoint::Open>& saved,
                                                     const CheckpointMapping& places) const {
  std::vector<Open> opened;
  for (const Checkpoint::Open& open : saved) {
    const TypeIndex type = places.types[open.type];
    opened.push_back({type, (*types_)[type].kind, open.match, open.begin});
  }
  return opened;
}

void StateTracker::restore(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  cut_from_ = checkpoint.from;
  for (std::uint32_t number = 0; number < checkpoint.tasks.size(); number++) {
    const Checkpoint::Task& saved = checkpoint.tasks[number];
    TaskNow& now = task(places.tasks[number]);
    now.cpu = saved.cpu;
    now.calls = opened(saved.open, places);
    constexpr std::uint32_t kGone = Checkpoint::gap | Checkpoint::exited | Checkpoint::left_dead;
    if (saved.off == kOffNot || (saved.flags & kGone) != 0) continue;
    now.state = saved.off == kOffPreempted ? TaskState::ready : TaskState::blocked;
    now.since = saved.since;
    now.begun = now.before_cut = true;
  }
  for (const Checkpoint::Cpu& saved : checkpoint.cpus) {
    const bool switched = saved.next != Checkpoint::kNone;
    const TaskIndex running = switched ? saved.next : saved.current;
    if (running == Checkpoint::kNone) continue;
    CpuNow& now = cpu(saved.cpu);
    now.running = places.tasks[running];
    now.begun = switched;  // else `since` may be its first event only: the checkpoint does not say
    now.since = switched ? saved.last : checkpoint.tasks[running].since;
    now.stack = opened(saved.open, places);
    who_runs_.runs(saved.cpu, now.running);
    TaskNow& runner = task(now.running);
    runner.state = TaskState::running;
    runner.cpu = saved.cpu;
    runner.since = now.since;
    runner.begun = now.begun;
  }
}

StateTracker::Saved StateTracker::save() const {
  Saved saved(who_runs_);
  saved.count_ = tasks_.size();
  saved.numbers_ = tasks_.numbers();
  saved.cpus_ = cpus_;
  for (TaskIndex index = 0; index < states_.size(); index++) {
    const TaskNow& now = states_[index];
    if (now.state == TaskState::unknown && now.calls.empty()) continue;
    saved.states_.emplace_back(index, now);
    saved.states_.back().second.calls.shrink_to_fit();
  }
  saved.numbers_.shrink_to_fit();
  saved.states_.shrink_to_fit();
  return saved;
}

StateTracker StateTracker::at(const Saved& saved) const {
  StateTracker then(meanings_, types_, tasks_.at(saved.count_, saved.numbers_), saved.who_runs_);
  then.cut_from_ = cut_from_;
  then.cpus_ = saved.cpus_;
  for (const auto& [index, now] : saved.states_) then.task(index) = now;
  return then;
}

std::size_t StateTracker::Saved::bytes() const {
  std::size_t bytes = sizeof *this + numbers_.size() * sizeof numbers_[0] +
                      states_.size() * sizeof states_[0] + cpus_.size() * sizeof cpus_[0] +
                      who_runs_.bytes();
  for (const auto& state : states_) bytes += state.second.calls.size() * sizeof(Open) + kOfMalloc;
  for (const CpuNow& now : cpus_) bytes += now.stack.capacity() * sizeof(Open) + kOfMalloc;
  return bytes;
}

// Ends the state of the task at `clock` (ticks) and begins another one. begun: the change was seen.
void StateTracker::set_state(TaskIndex index, TaskState state, std::uint64_t clock, bool begun,
                             StateObserver* observer) {
  TaskNow& now = task(index);
  if (observer != nullptr && now.state != TaskState::unknown && clock > now.since) {
    observer->slice({.kind = SliceKind::state,
                     .depth = 0,
                     .begun = now.begun,
                     .ended = begun,
                     .cpu = now.cpu,
                     .task = index,
                     .value = static_cast<std::uint32_t>(now.state),
                     .in = now.outermost(),
                     .from = now.since,
                     .to = clock});
  }
  now.state = state;
  now.since = clock;
  now.begun = begun;
  now.before_cut = false;
}

// The interrupts that are open on the CPU ended unseen, at `clock` at the latest.
void StateTracker::drop_interrupts(std::uint32_t number, std::uint64_t clock,
                                   StateObserver* observer) {
  CpuNow& now = cpu(number);
  Slice slice{.kind = SliceKind::interrupt,
              .depth = 0,
              .begun = true,
              .ended = false,
              .cpu = number,
              .task = now.running,
              .value = 0,
              .in = kNoType,
              .from = 0,
              .to = clock};
  for (const Open& open : now.stack) {
    if (slice.depth < kDeepest) slice.depth++;
    slice.value = open.type;
    slice.from = open.from;
    if (observer != nullptr && now.running != kNoTask && clock > open.from) observer->slice(slice);
  }
  now.stack.clear();
}

// From `clock` on, `next` runs on the CPU; kNoTask: unknown. begun: the switch was seen.
void StateTracker::run(std::uint32_t number, TaskIndex next, std::uint64_t clock, bool begun,
                       StateObserver* observer) {
  drop_interrupts(number, clock, observer);  // tasks do not switch inside an interrupt
  CpuNow& now = cpu(number);
  if (observer != nullptr && now.running != kNoTask && clock > now.since) {
    observer->slice({.kind = SliceKind::run,
                     .depth = 0,
                     .begun = now.begun,
                     .ended = begun,
                     .cpu = number,
                     .task = now.running,
                     .value = now.running,
                     .in = kNoType,
                     .from = now.since,
                     .to = clock});
  }
  now.running = next;
  now.since = clock;
  now.begun = begun;
  if (next == kNoTask) return;
  TaskNow& runner = task(next);
  if (runner.before_cut && runner.state == TaskState::blocked) {
    // No wake-up was seen since the cut: the task was already awake at the cut and only waited for
    // this CPU.
    runner.state = TaskState::ready;
    runner.since = cut_from_;
    runner.begun = false;
  }
  if (observer != nullptr && runner.state == TaskState::ready && runner.waker != kNoTask) {
    observer->wake({.waker = runner.waker,
                    .task = next,
                    .waker_cpu = runner.waker_cpu,
                    .cpu = number,
                    .woken = runner.since,
                    .runs = clock});
  }
  set_state(next, TaskState::running, clock, begun, observer);
  task(next).cpu = number;
  task(next).waker = kNoTask;
}

void StateTracker::apply(const Event& event, StateObserver* observer) {
  if (event.id == kGapBegins) return begin_gap(event, observer);
  const TaskIndex running = tasks_.running(event);
  Step step;
  if (who_runs_.surprises(event.cpu, running)) {
    // The CPU's first event, the first one after a gap, or one after a switch that was not seen.
    const TaskIndex before = cpu(event.cpu).running;
    if (before != kNoTask) set_state(before, TaskState::unknown, event.clock, false, observer);
    who_runs_.runs(event.cpu, running);
    run(event.cpu, running, event.clock, false, observer);
  }
  if (!event.is_gap()) {
    tasks_.apply(event, running);
    const Meaning& meaning = (*meanings_)[event.id];
    switch (meaning.role) {
      case Role::point:
        step = point(event, running, observer);
        break;
      case Role::begin:
        step = begin(event, meaning, running);
        break;
      case Role::end:
        step = end(event, meaning, running, observer);
        break;
    }
  }
  if (observer != nullptr) observer->event(event, running, step);
}

Step StateTracker::point(const Event& event, TaskIndex running, StateObserver* observer) {
  Step step;
  step.depth = static_cast<unsigned>(cpu(event.cpu).stack.size() + task(running).calls.size());
  if (is_switch(event.id)) {
    switched(event, running, observer);
  } else if (is_wake_up(event.id)) {
    woken(event, running, observer);
  } else if (event.id == FKT_E_EXEC) {
    exec(event, running);
  } else if (event.id == FKT_E_MASK) {
    forget(event, observer);
  }
  return step;
}

void StateTracker::switched(const Event& event, TaskIndex running, StateObserver* observer) {
  const std::uint32_t tid = event.arg & FKT_PID_MASK;
  const TaskIndex next = tid == 0 ? tasks_.idle(event.cpu) : tasks_.by_tid(tid);
  TaskState state = TaskState::blocked;
  if (event.id == FKT_E_SWITCH_R || event.id == FKT_E_SWITCH_PREEMPT) state = TaskState::ready;
  if (event.id == FKT_E_SWITCH_X || event.id == FKT_E_SWITCH_Z) state = TaskState::unknown;
  // While another CPU is in a gap, the task may run there next.
  if (who_runs_.in_gap() && !tasks_[running].idle) state = TaskState::unknown;
  set_state(running, state, event.clock, true, observer);
  // The task is gone, or its calls may end unseen.
  if (state == TaskState::unknown) task(running).calls.clear();
  who_runs_.switches(event.cpu, running, next);
  run(event.cpu, next, event.clock, true, observer);
}

void StateTracker::woken(const Event& event, TaskIndex running, StateObserver* observer) {
  const std::uint32_t tid = event.arg & FKT_PID_MASK;
  const TaskIndex index = tasks_.find(tid);
  // While a CPU is in a gap, the task may run there at once, unseen.
  if (index == kNoTask || tasks_[index].left_dead || who_runs_.in_gap()) return;
  const TaskState state = task(index).state;
  // The second event of one wake-up, or a wake-up that came before the task went to sleep.
  if (state == TaskState::ready || state == TaskState::running) return;
  set_state(index, TaskState::ready, event.clock, true, observer);
  TaskNow& now = task(index);
  now.waker = running;
  now.waker_cpu = event.cpu;
}

// The thread that called execve continues under the number of its thread group leader.
void StateTracker::exec(const Event& event, TaskIndex running) {
  if (event.words.empty()) return;
  const TaskIndex old = tasks_.find(static_cast<std::uint32_t>(event.words[0]) & FKT_PID_MASK);
  if (old != kNoTask && old != running) {
    task(std::max(old, running));  // makes room for both
    states_[running].calls = std::move(states_[old].calls);
    states_[old].calls.clear();
  }
  std::vector<Open>& calls = task(running).calls;  // those of user mode ended with their program
  calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(open_in_user_mode(calls)));
}

Step StateTracker::begin(const Event& event, const Meaning& meaning, TaskIndex running) {
  Open open;
  open.match = meaning.value(event);
  open.from = event.clock;
  open.kind = meaning.kind;
  open.type = begun_type(*types_, meaning, event, open.match);
  std::vector<Open>& calls = task(running).calls;
  std::vector<Open>& interrupts = cpu(event.cpu).stack;
  const bool on_cpu = nests_on_cpu(meaning.kind, !interrupts.empty());
  std::vector<Open>& stack = on_cpu ? interrupts : calls;
  stack.resize(open_around(stack, meaning.kind));
  Step step;
  step.depth = static_cast<unsigned>(interrupts.size() + calls.size());
  stack.push_back(open);
  return step;
}

Step StateTracker::end(const Event& event, const Meaning& meaning, TaskIndex running,
                       StateObserver* observer) {
  std::vector<Open>& interrupts = cpu(event.cpu).stack;
  std::vector<Open>& calls = task(running).calls;
  const bool interrupt = nests_on_cpu(meaning.kind, !interrupts.empty());
  std::vector<Open>& stack = interrupt ? interrupts : calls;
  const std::size_t at = find_open(stack, meaning, meaning.value(event));
  if (at == 0) return {};
  const Open closed = stack[at - 1];
  stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(at - 1), stack.end());
  if (observer != nullptr) {
    observer->slice({.kind = interrupt ? SliceKind::interrupt : SliceKind::call,
                     .depth = static_cast<std::uint8_t>(std::min<std::size_t>(at, kDeepest)),
                     .begun = true,
                     .ended = true,
                     .cpu = event.cpu,
                     .task = running,
                     .value = closed.type,
                     .in = kNoType,
                     .from = closed.from,
                     .to = event.clock});
  }
  Step step;
  step.depth = static_cast<unsigned>(interrupts.size() + calls.size());
  step.closed = true;
  step.type = closed.type;
  step.duration = event.clock - closed.from;
  return step;
}

void StateTracker::begin_gap(const Event& event, StateObserver* observer) {
  who_runs_.begin_gap(event.cpu);
  run(event.cpu, kNoTask, event.clock, false, observer);
  const auto tasks = static_cast<TaskIndex>(states_.size());
  const std::vector<bool> elsewhere = who_runs_.running_elsewhere(event.cpu, tasks);
  for (TaskIndex index = 0; index < tasks; index++) {
    if (elsewhere[index] || stays_on_another(tasks_[index], event.cpu)) continue;
    if (states_[index].state != TaskState::unknown) {
      set_state(index, TaskState::unknown, event.clock, false, observer);
    }
    states_[index].calls.clear();
    states_[index].waker = kNoTask;
  }
}

// From here on other layers are recorded: the ends of open spans may not be.
void StateTracker::forget(const Event& event, StateObserver* observer) {
  who_runs_.set_mask(event.words.empty() ? 0 : event.words[0]);
  for (std::uint32_t number = 0; number < cpus_.size(); number++) {
    drop_interrupts(number, event.clock, observer);
  }
  for (TaskNow& now : states_) now.calls.clear();
}

void StateTracker::finish(std::uint64_t clock, StateObserver& observer) const {
  for (std::uint32_t number = 0; number < cpus_.size(); number++) {
    const CpuNow& now = cpus_[number];
    if (now.running == kNoTask || now.since >= clock) continue;
    Slice slice{.kind = SliceKind::run,
                .depth = 0,
                .begun = now.begun,
                .ended = false,
                .cpu = number,
                .task = now.running,
                .value = now.running,
                .in = kNoType,
                .from = now.since,
                .to = clock};
    observer.slice(slice);
    for (const Open& open : now.stack) {
      slice.kind = SliceKind::interrupt;
      if (slice.depth < kDeepest) slice.depth++;
      slice.begun = true;
      slice.value = open.type;
      slice.from = open.from;
      observer.slice(slice);
    }
  }
  for (TaskIndex index = 0; index < states_.size(); index++) {
    const TaskNow& now = states_[index];
    Slice slice{.kind = SliceKind::state,
                .depth = 0,
                .begun = now.begun,
                .ended = false,
                .cpu = now.cpu,
                .task = index,
                .value = static_cast<std::uint32_t>(now.state),
                .in = now.outermost(),
                .from = now.since,
                .to = clock};
    if (now.state != TaskState::unknown && now.since < clock) observer.slice(slice);
    slice.kind = SliceKind::call;
    slice.begun = true;
    slice.in = kNoType;
    for (const Open& open : now.calls) {
      if (slice.depth < kDeepest) slice.depth++;
      slice.value = open.type;
      slice.from = open.from;
      observer.slice(slice);
    }
  }
}

}  // namespace fkt
