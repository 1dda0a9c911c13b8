// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/state_tracker.h"

namespace fkt {
namespace {

constexpr std::size_t kOfMalloc = 16;  // overhead of malloc() per allocation (bytes)

// Shows the spans that are open on a stack until slice.to, each one depth below the one around it;
// `slice` is what they are in.
template <class Stack>
void show_open(const Stack& stack, SliceKind kind, Slice slice, std::uint32_t no_cpu,
               StateObserver& observer) {
  const std::uint32_t last = slice.cpu;
  slice.kind = kind;
  slice.begun = true;
  slice.in = kNoType;
  for (const auto& open : stack) {
    if (slice.depth < kDeepestSlice) slice.depth++;
    slice.value = open.type;
    slice.from = open.begin;
    slice.cpu = open.cpu == no_cpu ? last : open.cpu;
    if (slice.from <= slice.to) observer.slice(slice);
  }
}

// Reports the run of the CPU, which ends or is cut off at `to` (ticks). ended: its end was seen.
template <class CpuNow>
Slice run_slice(std::uint32_t number, const CpuNow& now, std::uint64_t to, bool ended) {
  return {.kind = SliceKind::run,
          .depth = 0,
          .begun = now.begun,
          .ended = ended,
          .cpu = number,
          .task = now.running,
          .value = now.running,
          .in = kNoType,
          .from = now.since,
          .to = to};
}

Slice async_slice(const AsyncSpan& span, std::uint64_t to, bool ended) {
  return {.kind = SliceKind::async,
          .depth = span.row,
          .begun = true,
          .ended = ended,
          .cpu = span.cpu,
          .task = span.task,
          .value = span.type,
          .in = kNoType,
          .from = span.begin,
          .to = to,
          .told = span.begin};
}

}  // namespace

StateTracker::StateTracker(const RecordingInfo& info, const Meanings& meanings, SpanTypes& types)
    : meanings_(&meanings),
      types_(&types),
      tasks_(info),
      states_(info.command.mask),
      asyncs_(info.catalogue) {
  if (info.checkpoint) restore(*info.checkpoint, CheckpointMapping::same(*info.checkpoint));
}

// A checkpoint has no asynchronous spans: those that are open at a cut are known from their ends
// on.
void StateTracker::restart(const Checkpoint& checkpoint) {
  std::vector<AsyncSpans::Ended> unknown;
  asyncs_.drop(unknown);
  CheckpointMapping places;
  places.tasks = tasks_.restore(checkpoint);
  places.types = types_->restore(checkpoint);
  restore(checkpoint, places);
}

// The tracker at one event, as SpanStacks and TaskStates report to it.
struct StateTracker::Change {
  StateTracker& tracker;
  std::uint64_t clock;
  StateObserver* observer;

  void dropped(const Open&, const Stack&, Outcome) {}
  void replaced(const Open&, const Stack&) {}
  void moves(TaskIndex, TaskIndex) {}
  void loses(TaskIndex, Loss) {}
  void ends_interrupts(std::uint32_t number);
  void changes(TaskIndex index, const TaskStates::Now& now, TaskState state, std::uint64_t at,
               bool seen);
  void runs(std::uint32_t number, TaskIndex next, std::uint64_t at, bool seen);
  void got_cpu(std::uint32_t number, TaskIndex index, const TaskStates::Now& now, std::uint64_t at);
};

void StateTracker::restore(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  stacks_.restore(checkpoint, *types_, places);
  states_.restore(checkpoint, places);
  for (const Checkpoint::Cpu& saved : checkpoint.cpus) {
    const bool switched = saved.next != Checkpoint::kNone;
    const TaskIndex running = places.task(switched ? saved.next : saved.current);
    if (running == kNoTask) continue;
    CpuNow& now = cpu(saved.cpu);
    now.running = running;
    now.begun = switched;  // else `since` may be its first event only: the checkpoint does not say
    now.since = switched ? saved.last : checkpoint.tasks[saved.current].since;
  }
}

StateTracker::Saved StateTracker::save() const {
  Saved saved(states_.without_tasks(), asyncs_);
  saved.count_ = tasks_.size();
  saved.numbers_ = tasks_.numbers();
  saved.cpus_ = stacks_.cpus();
  for (TaskIndex index = 0; index < known(); index++) {
    const TaskStates::Now now = state(index);
    const bool has_spans = index < stacks_.tasks().size() && !stacks_.tasks()[index].stack.empty();
    // Of a task in an unknown state, the CPU where it ran last is still needed.
    const bool has_cpu = now.cpu != 0 && tasks_.can_be_met(index);
    if (now.state == TaskState::unknown && !has_spans && !has_cpu) continue;
    saved.tasks_.push_back({index, now, has_spans ? stacks_.tasks()[index].stack : Stack()});
  }
  saved.numbers_.shrink_to_fit();
  saved.tasks_.shrink_to_fit();
  return saved;
}

StateTracker StateTracker::at(const Saved& saved) const {
  StateTracker then(meanings_, types_, tasks_.at(saved.count_, saved.numbers_), saved.states_,
                    saved.asyncs_);
  then.stacks_.cpus() = saved.cpus_;
  for (const Saved::Task& task : saved.tasks_) {
    then.states_.task(task.index) = task.now;
    then.stacks_.task(task.index).stack = task.stack;
  }
  return then;
}

std::size_t StateTracker::Saved::bytes() const {
  std::size_t bytes = sizeof *this + numbers_.size() * sizeof numbers_[0] +
                      tasks_.size() * sizeof tasks_[0] + cpus_.size() * sizeof cpus_[0] +
                      states_.running_tasks().bytes() +
                      asyncs_.open().size() * (sizeof(AsyncSpan) + 4 * kOfMalloc);
  for (const Task& task : tasks_) bytes += task.stack.size() * sizeof(Open) + kOfMalloc;
  for (const CpuNow& now : cpus_) bytes += now.stack.size() * sizeof(Open) + kOfMalloc;
  return bytes;
}

// Reports the task's state, which ends or is cut off at `to` (ticks). ended: its end was seen.
Slice StateTracker::state_slice(TaskIndex index, const TaskStates::Now& now, std::uint64_t to,
                                bool ended) const {
  return {.kind = SliceKind::state,
          .depth = 0,
          .begun = now.begun,
          .ended = ended,
          .cpu = now.cpu,
          .task = index,
          .value = static_cast<std::uint32_t>(now.state),
          .in = outermost(index),
          .from = now.since,
          .to = to};
}

// The state of the task ends at `at` (ticks).
void StateTracker::Change::changes(TaskIndex index, const TaskStates::Now& now, TaskState,
                                   std::uint64_t at, bool seen) {
  if (observer == nullptr || now.state == TaskState::unknown || at <= now.since) return;
  observer->slice(tracker.state_slice(index, now, at, seen));
}

// The interrupts that are open on the CPU ended unseen, at `clock` at the latest.
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
    if (slice.depth < kDeepestSlice) slice.depth++;
    slice.value = open.type;
    slice.from = open.begin;
    if (clock > open.begin) observer->slice(slice);
  }
}

void StateTracker::Change::runs(std::uint32_t number, TaskIndex next, std::uint64_t at, bool seen) {
  // Tasks do not switch inside an interrupt.
  tracker.stacks_.end_interrupts(number, Outcome::no_exit, *this);
  CpuNow& now = tracker.cpu(number);
  if (observer != nullptr && now.running != kNoTask && at > now.since) {
    observer->slice(run_slice(number, now, at, seen));
  }
  now.running = next;
  now.since = at;
  now.begun = seen;
}

void StateTracker::Change::got_cpu(std::uint32_t number, TaskIndex index,
                                   const TaskStates::Now& now, std::uint64_t at) {
  if (observer == nullptr) return;
  observer->wake({.waker = now.waker,
                  .task = index,
                  .interrupt = now.interrupt,
                  .waker_cpu = now.waker_cpu,
                  .cpu = number,
                  .woken = now.since,
                  .runs = at});
}

void StateTracker::apply(const Event& event, StateObserver* observer) {
  Change change{*this, event.clock, observer};
  if (event.id == kGapBegins) return begin_gap(event, change);
  const TaskIndex running = tasks_.running(event);
  SpanStep step;
  states_.arrive(event, running, change);
  if (event.is_gap()) {
    drop_asyncs(event.clock, observer);
  } else {
    tasks_.apply(event, running);
    const Meaning& meaning = (*meanings_)[event.id];
    if (meaning.role == Role::point) {
      point(event, running, change, step);
    } else {
      const Stacks::Position place = stacks_.at(event.cpu, running);
      if (meaning.role == Role::begin) {
        begin(event, meaning, place, change);
        step.depth = place.depth() - 1;
      } else if (const Stacks::Ended ended = Stacks::end(meaning, event, place, change);
                 ended.span != nullptr) {
        step.depth = place.depth();
        step.closed = true;
        step.type = ended.span->type;
        step.duration = ended.ticks;
        if (observer != nullptr) {
          observer->slice(ended_span(ended, place, event.cpu).slice(running));
        }
      }
    }
  }
  if (observer != nullptr) observer->event(event, running, step);
}

void StateTracker::point(const Event& event, TaskIndex running, Change& change, SpanStep& step) {
  step.depth = stacks_.at(event.cpu, running).depth();
  if (is_wake_up(event.id)) {
    const Stack& interrupts = cpu(event.cpu).stack;
    const TypeIndex interrupt = interrupts.empty() ? kNoType : interrupts.top().type;
    states_.wakes(event, running, interrupt, tasks_, change);
    return;
  }
  if (is_switch(event.id)) {
    const std::uint32_t tid = event.arg & FKT_PID_MASK;
    const TaskIndex next = tid == 0 ? tasks_.idle(event.cpu) : tasks_.by_tid(tid);
    states_.switches(event, running, next, tasks_, change);
  } else if (event.id == FKT_E_MASK) {
    states_.masks(event);
  }
  stacks_.point(event, running, tasks_, states_.running_tasks().in_gap(), change);
  if ((*meanings_)[event.id].async) [[unlikely]] {
    std::vector<AsyncSpans::Ended> ended;
    asyncs_.apply(event, running, *types_, ended, step);
    show(ended, event.clock, change.observer);
  }
}

inline void StateTracker::begin(const Event& event, const Meaning& meaning,
                                const Stacks::Position& place, Change& change) {
  Open& span = stacks_.begin(meaning, event, place, *types_, change);
  span.told = event.clock;
  span.cpu = event.cpu;
}

inline ClosedSpan StateTracker::ended_span(const Stacks::Ended& ended,
                                           const Stacks::Position& place, std::uint32_t cpu) {
  const Open& span = *ended.span;
  return {&ended.stack == &place.cpu.stack,
          ended.stack.size() + 1,
          span.type,
          span.begin,
          span.begin + ended.ticks,
          span.told,
          span.cpu == kNoCpu ? cpu : span.cpu};
}

// The begin and the end of a span with nothing between leave the stack as it was, if the span may
// begin there, and is what the end event ends.
inline bool StateTracker::is_plain(const PageDecoder::WholePair& pair, const Stack& stack,
                                   std::uint64_t number) const {
  const Meaning& begins = (*meanings_)[pair.type->begin];
  if (meanings_->ends_its_begin(*pair.type)) {
    return open_around(stack, begins.kind) == stack.size();
  }
  const Meaning& ends = (*meanings_)[pair.type->end];
  if (begins.role != Role::begin || ends.role != Role::end) return false;
  if (pair.type->begin == FKT_E_IRQ_ENTRY_NAMED) return false;
  if (open_around(stack, begins.kind) != stack.size()) return false;
  Event end;
  end.arg = pair.type->end_arg(pair.number, pair.value);
  return ends.ends(begins.kind, number, ends.value(end));
}

// at: the CPU and the thread of the event before it, which the pair has too.
inline void StateTracker::pair(const PageDecoder::WholePair& pair, const Event& at,
                               const Stacks::Position& place, SliceGroups& groups) {
  const std::uint16_t id = pair.type->begin;
  const Meaning& begins = (*meanings_)[id];
  const Stack& stack = place.stack_of(begins);
  const std::uint64_t number = begins.value(pair.number, {});
  if (!is_plain(pair, stack, number)) return pair_apart(pair, at, place, groups);
  const TypeIndex type = types_->of(begins.kind, begins.by_id ? id : number, id);
  groups.add(
      {&stack == &place.cpu.stack, stack.size() + 1, type, pair.from, pair.to, pair.from, at.cpu});
}

// The event `at` is not copied: its parts have just been written, and store forwarding fails for a
// copy of several at once.
void StateTracker::pair_apart(const PageDecoder::WholePair& pair, const Event& at,
                              const Stacks::Position& place, SliceGroups& groups) {
  Event event;
  event.clock = pair.from;
  event.cpu = at.cpu;
  event.pid = at.pid;
  event.id = pair.type->begin;
  event.arg = pair.number;
  nested(event, place, groups);
  event.clock = pair.to;
  event.id = pair.type->end;
  event.arg = pair.type->end_arg(pair.number, pair.value);
  nested(event, place, groups);
}

// Applies an event that changes nothing but the stacks of its CPU and task.
inline void StateTracker::nested(const Event& event, const Stacks::Position& place,
                                 SliceGroups& groups) {
  const Meaning& meaning = (*meanings_)[event.id];
  if (meaning.role == Role::point) return;
  Change change{*this, event.clock, groups.observer()};
  if (meaning.role == Role::begin) return begin(event, meaning, place, change);
  const Stacks::Ended ended = Stacks::end(meaning, event, place, change);
  if (ended.span != nullptr) groups.add(ended_span(ended, place, event.cpu));
}

void StateTracker::apply_next(BurstMerge& merge, SliceGroups& groups) {
  apply(merge.event(), groups.observer());
  const std::uint32_t events = merge.events();
  if (events == 1) return;
  const Event& event = merge.event();
  const TaskIndex running = tasks_.running(event);
  const Stacks::Position place = stacks_.at(event.cpu, running);
  groups.begin(running);
  PageDecoder::WholePair whole;
  for (std::uint32_t n = 1; n < events; n++) {
    if (merge.step(whole)) {
      pair(whole, event, place, groups);
      n++;
    } else {
      merge.step();
      nested(event, place, groups);
    }
  }
  groups.end();
}

void StateTracker::begin_gap(const Event& event, Change& change) {
  states_.begin_gap(event, tasks_, change);
  const auto tasks = static_cast<TaskIndex>(stacks_.tasks().size());
  stacks_.begin_gap(event.cpu, states_.running_tasks().running_elsewhere(event.cpu, tasks), tasks_,
                    change);
  drop_asyncs(event.clock, change.observer);
}

// Events that were lost on any CPU, between the two events of a gap, may have been ends and begins.
void StateTracker::drop_asyncs(std::uint64_t clock, StateObserver* observer) {
  std::vector<AsyncSpans::Ended> ended;
  asyncs_.drop(ended);
  show(ended, clock, observer);
}

// Reports asynchronous spans that have ended, at `clock` (ticks) at the latest.
void StateTracker::show(const std::vector<AsyncSpans::Ended>& ended, std::uint64_t clock,
                        StateObserver* observer) const {
  if (observer == nullptr) return;
  for (const AsyncSpans::Ended& end : ended) {
    if (end.span.row != AsyncSpan::kNoRow) observer->slice(async_slice(end.span, clock, end.seen));
  }
}

void StateTracker::finish(std::uint64_t clock, const UnknownEnds& unknown,
                          StateObserver& observer) const {
  for (std::uint32_t number = 0; number < stacks_.cpus().size(); number++) {
    const CpuNow& now = stacks_.cpus()[number];
    const std::uint64_t to = unknown.known_until(number, clock);
    if (now.running == kNoTask || now.since >= to) continue;
    const Slice run = run_slice(number, now, to, false);
    observer.slice(run);
    show_open(now.stack, SliceKind::interrupt, run, kNoCpu, observer);
  }
  for (TaskIndex index = 0; index < known(); index++) {
    const TaskStates::Now now = state(index);
    const bool runs = now.state == TaskState::running;
    const std::uint64_t to = runs ? unknown.known_until(now.cpu, clock) : clock;
    const Slice of_state = state_slice(index, now, to, false);
    if (now.state != TaskState::unknown && now.since < to) observer.slice(of_state);
    if (index >= stacks_.tasks().size()) continue;
    show_open(stacks_.tasks()[index].stack, SliceKind::call, of_state, kNoCpu, observer);
  }
  for (const auto& [key, span] : asyncs_.open()) {
    if (span.row == AsyncSpan::kNoRow || span.begin >= clock) continue;
    observer.slice(async_slice(span, clock, false));
  }
}

}  // namespace fkt
