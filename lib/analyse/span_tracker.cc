// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/span_tracker.h"

namespace fkt {

SpanTracker::SpanTracker(const RecordingInfo& info, const Tasks& tasks, SpanTypes& types,
                         Profile& profile)
    : table_(tasks), types_(types), profile_(profile), meanings_(info.catalogue, types.kinds()) {
  switches_ = records_switches(info.command.mask);
}

void SpanTracker::save(Checkpoint& checkpoint, const std::vector<std::uint32_t>& numbers) const {
  for (TaskIndex i = 0; i < stacks_.tasks().size() && i < numbers.size(); i++) {
    if (numbers[i] == Checkpoint::kNone) continue;
    const TaskSpans& task = stacks_.tasks()[i];
    Checkpoint::Task& saved = checkpoint.tasks[numbers[i]];
    saved.flags |= Checkpoint::flag(task.seen, Checkpoint::seen) |
                   Checkpoint::flag(task.gap, Checkpoint::gap) |
                   Checkpoint::flag(task.from_fork, Checkpoint::from_fork);
    saved.mode = task.mode;
    saved.off = task.off;
    saved.since = task.since;
    saved.fork_type = task.fork_type;
    saved.open = task.stack.save();
    if ((saved.flags & Checkpoint::idle) == 0) saved.cpu = task.cpu;
  }
  for (Checkpoint::Cpu& cpu : checkpoint.cpus) {
    if (cpu.cpu < stacks_.cpus().size()) cpu.open = stacks_.cpus()[cpu.cpu].stack.save();
  }
}

void SpanTracker::restore(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  stacks_.restore(checkpoint, types_, places);
  gaps_ = 0;
  for (TaskIndex i = 0; i < checkpoint.tasks.size(); i++) {
    const Checkpoint::Task& saved = checkpoint.tasks[i];
    TaskSpans& task = state(places.tasks[i]);
    task.seen = (saved.flags & Checkpoint::seen) != 0;
    task.gap = (saved.flags & Checkpoint::gap) != 0;
    task.from_fork = (saved.flags & Checkpoint::from_fork) != 0;
    task.mode = saved.mode;
    task.off = saved.off;
    task.since = saved.since;
    task.cpu = saved.cpu;
    task.fork_type = saved.fork_type == Checkpoint::kNone ? kNoType : places.types[saved.fork_type];
  }
  if (observer_ == nullptr) return;
  observer_->restart(checkpoint, places);
  reopen();
}

void SpanTracker::watch(SpanObserver& observer) {
  observer_ = &observer;
  reopen();
}

void SpanTracker::reopen() {
  SpanPosition place;
  const auto all_of = [&](Stack& stack) {
    for (place.depth = 0; place.depth < stack.depth; place.depth++) {
      place.around = place.depth == 0 ? nullptr : &stack.spans[place.depth - 1];
      observer_->reopen(stack.spans[place.depth], place);
    }
  };
  for (TaskSpans& task : stacks_.tasks()) {
    all_of(task.stack);
    place.task++;
  }
  place.interrupt = true;
  place.task = 0;
  for (Stacks::Cpu& cpu : stacks_.cpus()) {
    all_of(cpu.stack);
    place.cpu++;
  }
}

void SpanTracker::apply(const Event& event, TaskIndex running, bool selected, SpanStep& step) {
  const Meaning& meaning = meanings_[event.id];
  const Stacks::Position place = stacks_.at(event.cpu, running);
  step.depth = place.depth();
  switch (meaning.role) {
    case Role::point:
      point(event, running, place, step);
      break;
    case Role::begin:
      begin(meaning, event, running, place, selected, step);
      break;
    case Role::end:
      end(meaning, event, running, place, selected, step);
      break;
  }
}

TypeIndex SpanTracker::begins(const Event& event) {
  const Meaning& meaning = meanings_[event.id];
  if (meaning.role != Role::begin) return kNoType;
  return begun_type(types_, meaning, event, meaning.value(event));
}

const OpenSpan* SpanTracker::ends(const Event& event, TaskIndex running) {
  const Meaning& meaning = meanings_[event.id];
  if (meaning.role != Role::end) return nullptr;
  const Stack& stack = stacks_.at(event.cpu, running).stack_of(meaning);
  const std::size_t at = find_open(stack, meaning, meaning.value(event));
  return at == 0 ? nullptr : &stack.spans[at - 1];
}

inline void SpanTracker::begin(const Meaning& meaning, const Event& event, TaskIndex running,
                               const Stacks::Position& place, bool selected, SpanStep& step) {
  OpenSpan& span = stacks_.begin(meaning, event, place, types_, *this);
  TaskSpans& task = place.task;
  // A late begin is older than what is known of the task, so it does not change its state.
  if (is_syscall(meaning.kind) || (is_user(meaning.kind) && !meaning.late)) {
    step.depth = place.depth() - 1;
    if (task.mode == Mode::unknown) step.resolved = CpuState::user;
    in_user_mode(task);
  }
  const Stack& stack = place.stack_of(meaning);
  span.selected = selected;
  span.of_cpu = &stack != &task.stack;
  if (keep_entries_) span.entry = event;
  if (selected) profile_.opened(span.type);
  if (observer_ != nullptr) [[unlikely]] {
    const auto depth = static_cast<std::uint32_t>(&span - stack.spans.data());
    observer_->begin(span, {event.clock, event.cpu, event.pid, running, depth, span.of_cpu,
                            depth > 0 ? &stack.spans[depth - 1] : nullptr});
  }
}

inline void SpanTracker::add_to_around(const OpenSpan& span, Stack& stack) {
  if (stack.depth > 0 && !on_cpu(span.kind)) stack.top().add_call(span);
}

void SpanTracker::tell_end(const OpenSpan& span, const Stack& stack, Outcome outcome,
                           SpanPosition place) {
  place.depth = static_cast<std::uint32_t>(stack.depth);
  place.interrupt = span.of_cpu;
  place.around = stack.depth > 0 ? &stack.top() : nullptr;
  observer_->end(span, outcome, place);
}

inline void SpanTracker::end(const Meaning& meaning, const Event& event, TaskIndex running,
                             const Stacks::Position& place, bool selected, SpanStep& step) {
  TaskSpans& task = place.task;
  const auto [span, stack, ticks] = Stacks::end(meaning, event, place, *this);
  if (span == nullptr) {
    exit_without_entry(type_of_end(meaning, event, meaning.value(event)), is_syscall(meaning.kind),
                       task, selected, step);
  } else {
    step.closed = true;
    step.type = span->type;
    step.duration = ticks;
    step.depth = place.depth();
    profile_.closed(*span, Outcome::complete, span->begin + ticks, selected);
    add_to_around(*span, stack);
    if (observer_ != nullptr) [[unlikely]] {
      tell_end(*span, stack, Outcome::complete,
               {.clock = event.clock, .cpu = event.cpu, .pid = event.pid, .task = running});
    }
    Stack& around = stack.depth > 0 ? stack : task.stack;
    if (around.depth > 0) around.top().children.add(step.type, 1, step.duration);
  }
  if (is_user(meaning.kind) && task.mode == Mode::unknown) step.resolved = CpuState::user;
  if (is_syscall(meaning.kind) || is_user(meaning.kind)) in_user_mode(task);
}

std::vector<TypeIndex> SpanTracker::path(TaskIndex task) const {
  std::vector<TypeIndex> types;
  if (task >= stacks_.tasks().size()) return types;
  for (const OpenSpan& span : stacks_.tasks()[task].stack) types.push_back(span.type);
  return types;
}

// Returns the type of the span that the event ends, whose begin is not known; kNoType when the
// event does not say.
TypeIndex SpanTracker::type_of_end(const Meaning& meaning, const Event& event,
                                   std::uint64_t number) {
  if (meaning.same_key) return types_.of(meaning.kind, number, event.id);
  if (!meaning.by_id || meaning.begin == 0) return kNoType;
  return types_.of(meaning.kind, meaning.begin, meaning.begin);
}

void SpanTracker::exit_without_entry(TypeIndex type, bool is_call, TaskSpans& task, bool selected,
                                     SpanStep& step) {
  if (type != kNoType) {
    if (selected) profile_.exit_alone(type, Outcome::no_entry);
    return;
  }
  if (task.mode == Mode::unknown) step.resolved = CpuState::system;
  // Seccomp and tracers come before the entry's event; after a signal that they send, the call's
  // number stands for its result.
  step.refused = is_call && task.mode == Mode::user && !task.gap && !task.from_fork;
  if (!selected) return;
  if (task.from_fork) return profile_.exit_alone(task.fork_type, Outcome::fork_return);
  profile_.exit_alone(kNoType, step.refused ? Outcome::refused
                               : task.gap   ? Outcome::in_gap
                                            : Outcome::no_entry);
}

inline void SpanTracker::point(const Event& event, TaskIndex running, const Stacks::Position& place,
                               SpanStep& step) {
  TaskSpans& task = place.task;
  if (is_switch(event.id)) {
    step.depth = static_cast<unsigned>(task.stack.depth);
    task.off = switched_out(event.id);
    task.since = event.clock;
  } else if (event.id == FKT_E_FAULT_USER) {
    if (task.mode != Mode::unknown || place.depth() > 0) return;
    step.resolved = CpuState::user;
    task.mode = Mode::user;
    return;
  } else if (event.id == FKT_E_FORK) {
    return fork(event, task);
  } else if (event.id == FKT_E_MASK) {
    switches_ = records_switches(event.words.empty() ? 0 : event.words[0]);
  }
  stacks_.point(event, running, table_, in_gap(), *this);
}

void SpanTracker::fork(const Event& event, const TaskSpans& parent) {
  const TaskIndex index = table_.find(event.arg & FKT_PID_MASK);
  if (index == kNoTask || !table_[index].forked) return;
  const OpenSpan* const outermost = parent.stack.outermost_call();
  const TypeIndex call = outermost != nullptr ? outermost->type : kNoType;
  TaskSpans& child = state(index);  // state() may have moved `parent`
  child.mode = Mode::kernel;
  child.from_fork = true;
  child.fork_type = call;
}

void SpanTracker::dropped(const OpenSpan& span, Stack& stack, Outcome outcome) {
  const bool never = outcome == Outcome::no_exit && types_[span.type].never_returns;
  const Outcome how = never ? Outcome::never_returns : outcome;
  profile_.closed(span, how, 0, false);
  add_to_around(span, stack);
  if (observer_ != nullptr) tell_end(span, stack, how, {});
}

void SpanTracker::replaced(const OpenSpan& span, Stack& stack) {
  profile_.closed(span, Outcome::no_exit, 0, false);
  if (observer_ != nullptr) tell_end(span, stack, Outcome::no_exit, {});
}

void SpanTracker::loses(TaskIndex index, Loss) {
  TaskSpans& task = state(index);
  task.mode = Mode::unknown;
  task.gap = true;
  task.from_fork = false;
}

void SpanTracker::moves(TaskIndex from, TaskIndex to) {
  state(to).mode = state(from).mode;
  state(from).mode = Mode::unknown;
}

inline CpuState SpanTracker::charge_task(TaskIndex index, std::uint64_t selected, OpenSpan*& call) {
  const TaskInfo& info = table_[index];
  TaskSpans& task = state(index);
  if (task.stack.depth > 0) {
    call = &task.stack.top();
    return is_user(call->kind) ? CpuState::user : CpuState::system;
  }
  if (info.idle) return CpuState::idle;
  if (info.kernel) {
    kernel_threads_ += selected;
    return CpuState::system;
  }
  return task.mode == Mode::user     ? CpuState::user
         : task.mode == Mode::kernel ? CpuState::system
                                     : CpuState::running;
}

CpuState SpanTracker::interrupt_state(const Stack& stack) {
  // What is called in an interrupt counts as that interrupt.
  std::size_t at = stack.depth - 1;
  while (at > 0 && !on_cpu(stack.spans[at].kind)) at--;
  return stack.spans[at].kind.nests() == Nesting::softirq ? CpuState::softirq : CpuState::irq;
}

CpuState SpanTracker::charge(std::uint32_t cpu_number, TaskIndex index, std::uint64_t ticks,
                             std::uint64_t selected) {
  Stack& stack = cpu(cpu_number);
  OpenSpan* const interrupt = stack.depth > 0 ? &stack.top() : nullptr;
  OpenSpan* call = interrupt;
  CpuState state = CpuState::others;
  if (interrupt != nullptr) {
    state = interrupt_state(stack);
  } else if (table_[index].member) {
    state = charge_task(index, selected, call);
  }
  if (call != nullptr) {
    call->self += ticks;
    call->self_selected += selected;
  }
  if (observer_ != nullptr && selected > 0) [[unlikely]] {
    observer_->charge(call, index, state, selected);
  }
  return state;
}

void SpanTracker::begin_gap(std::uint32_t cpu_number, const std::vector<bool>& running_elsewhere,
                            bool again) {
  if (!again) gaps_++;
  const std::vector<bool> none;
  stacks_.begin_gap(cpu_number, switches_ ? running_elsewhere : none, table_, *this);
}

}  // namespace fkt
