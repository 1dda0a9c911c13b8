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
  who_runs_.clear();
  CheckpointMapping places;
  places.tasks = tasks_.restore(checkpoint);
  places.types = types_->restore(checkpoint);
  restore(checkpoint, places);
}

// The tracker at one event, as SpanStacks reports to it.
struct StateTracker::Change {
  StateTracker& tracker;
  std::uint64_t clock;
  StateObserver* observer;

  void dropped(const Open&, const Stack&, Outcome) {}
  void replaced(const Open&, const Stack&) {}
  void moves(TaskIndex, TaskIndex) {}
  void ends_interrupts(std::uint32_t number);
  void loses(TaskIndex index, Loss cause);
};

void StateTracker::restore(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  cut_from_ = checkpoint.from;
  stacks_.restore(checkpoint, *types_, places);
  for (std::uint32_t number = 0; number < checkpoint.tasks.size(); number++) {
    const Checkpoint::Task& saved = checkpoint.tasks[number];
    TaskNow& now = task(places.tasks[number]);
    now.cpu = saved.cpu;
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
  saved.cpus_ = stacks_.cpus();
  for (TaskIndex index = 0; index < stacks_.tasks().size(); index++) {
    const TaskNow& now = stacks_.tasks()[index];
    if (now.state == TaskState::unknown && now.stack.empty()) continue;
    saved.states_.emplace_back(index, now);
  }
  saved.numbers_.shrink_to_fit();
  saved.states_.shrink_to_fit();
  return saved;
}

StateTracker StateTracker::at(const Saved& saved) const {
  StateTracker then(meanings_, types_, tasks_.at(saved.count_, saved.numbers_), saved.who_runs_);
  then.cut_from_ = cut_from_;
  then.stacks_.cpus() = saved.cpus_;
  for (const auto& [index, now] : saved.states_) then.task(index) = now;
  return then;
}

std::size_t StateTracker::Saved::bytes() const {
  std::size_t bytes = sizeof *this + numbers_.size() * sizeof numbers_[0] +
                      states_.size() * sizeof states_[0] + cpus_.size() * sizeof cpus_[0] +
                      who_runs_.bytes();
  for (const auto& state : states_) bytes += state.second.stack.size() * sizeof(Open) + kOfMalloc;
  for (const CpuNow& now : cpus_) bytes += now.stack.size() * sizeof(Open) + kOfMalloc;
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
                     .in = outermost(now),
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
  Change change{*this, clock, observer};
  stacks_.end_interrupts(number, Outcome::no_exit, change);
}

void StateTracker::Change::ends_interrupts(std::uint32_t number) {
  const CpuNow& now = tracker.cpu(number);
  if (observer == nullptr || now.running == kNoTask) return;
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
    slice.from = open.begin;
    if (clock > open.begin) observer->slice(slice);
  }
}

void StateTracker::Change::loses(TaskIndex index, Loss cause) {
  if (cause != Loss::gap) return;
  if (tracker.task(index).state != TaskState::unknown) {
    tracker.set_state(index, TaskState::unknown, clock, false, observer);
  }
  tracker.task(index).waker = kNoTask;
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
        step = begin(event, meaning, running, observer);
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
  step.depth = stacks_.at(event.cpu, running).depth();
  if (is_switch(event.id)) {
    switched(event, running, observer);
  } else if (is_wake_up(event.id)) {
    woken(event, running, observer);
  } else {
    if (event.id == FKT_E_MASK) who_runs_.set_mask(event.words.empty() ? 0 : event.words[0]);
    Change change{*this, event.clock, observer};
    stacks_.point(event, running, tasks_, who_runs_.in_gap(), change);
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
  Change change{*this, event.clock, observer};
  stacks_.point(event, running, tasks_, who_runs_.in_gap(), change);
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

Step StateTracker::begin(const Event& event, const Meaning& meaning, TaskIndex running,
                         StateObserver* observer) {
  const Stacks::Place place = stacks_.at(event.cpu, running);
  Change change{*this, event.clock, observer};
  stacks_.begin(meaning, event, place, *types_, change);
  Step step;
  step.depth = place.depth() - 1;
  return step;
}

Step StateTracker::end(const Event& event, const Meaning& meaning, TaskIndex running,
                       StateObserver* observer) {
  const Stacks::Place place = stacks_.at(event.cpu, running);
  Change change{*this, event.clock, observer};
  const auto [span, stack] = Stacks::end(meaning, event, place, change);
  if (span == nullptr) return {};
  if (observer != nullptr) {
    const bool interrupt = &stack == &place.cpu.stack;
    observer->slice({.kind = interrupt ? SliceKind::interrupt : SliceKind::call,
                     .depth = static_cast<std::uint8_t>(std::min(stack.size() + 1, kDeepest)),
                     .begun = true,
                     .ended = true,
                     .cpu = event.cpu,
                     .task = running,
                     .value = span->type,
                     .in = kNoType,
                     .from = span->begin,
                     .to = event.clock});
  }
  Step step;
  step.depth = place.depth();
  step.closed = true;
  step.type = span->type;
  step.duration = event.clock - span->begin;
  return step;
}

void StateTracker::begin_gap(const Event& event, StateObserver* observer) {
  who_runs_.begin_gap(event.cpu);
  run(event.cpu, kNoTask, event.clock, false, observer);
  const auto tasks = static_cast<TaskIndex>(stacks_.tasks().size());
  Change change{*this, event.clock, observer};
  stacks_.begin_gap(event.cpu, who_runs_.running_elsewhere(event.cpu, tasks), tasks_, change);
}

void StateTracker::finish(std::uint64_t clock, StateObserver& observer) const {
  for (std::uint32_t number = 0; number < stacks_.cpus().size(); number++) {
    const CpuNow& now = stacks_.cpus()[number];
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
      slice.from = open.begin;
      observer.slice(slice);
    }
  }
  for (TaskIndex index = 0; index < stacks_.tasks().size(); index++) {
    const TaskNow& now = stacks_.tasks()[index];
    Slice slice{.kind = SliceKind::state,
                .depth = 0,
                .begun = now.begun,
                .ended = false,
                .cpu = now.cpu,
                .task = index,
                .value = static_cast<std::uint32_t>(now.state),
                .in = outermost(now),
                .from = now.since,
                .to = clock};
    if (now.state != TaskState::unknown && now.since < clock) observer.slice(slice);
    slice.kind = SliceKind::call;
    slice.begun = true;
    slice.in = kNoType;
    for (const Open& open : now.stack) {
      if (slice.depth < kDeepest) slice.depth++;
      slice.value = open.type;
      slice.from = open.begin;
      observer.slice(slice);
    }
  }
}

}  // namespace fkt
