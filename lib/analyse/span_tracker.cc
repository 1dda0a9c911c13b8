// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/span_tracker.h"

#include <algorithm>

#include "lib/analyse/who_runs.h"

namespace fkt {

SpanTracker::SpanTracker(const TraceInfo& info, const Tasks& tasks, SpanTypes& types,
                         Profile& profile)
    : table_(tasks), types_(types), profile_(profile), meanings_(info.catalogue, types.kinds()) {
  switches_ = records_switches(info.command.mask);
}

std::vector<Checkpoint::Open> SpanTracker::Stack::save() const {
  std::vector<Checkpoint::Open> open;
  for (std::size_t i = 0; i < depth; i++) {
    open.push_back({spans[i].type, spans[i].match, spans[i].begin});
  }
  return open;
}

void SpanTracker::Stack::restore(const std::vector<Checkpoint::Open>& open, const SpanTypes& types,
                                 const CheckpointMapping& places, bool of_cpu) {
  depth = 0;
  for (const Checkpoint::Open& saved : open) {
    OpenSpan& span = push();
    span.of_cpu = of_cpu;
    span.type = places.types[saved.type];
    span.kind = types[span.type].kind;
    span.match = saved.match;
    span.begin = saved.begin;
    span.selected = false;
    span.before_cut = true;
  }
}

void SpanTracker::save(Checkpoint& checkpoint, const std::vector<std::uint32_t>& numbers) const {
  for (TaskIndex i = 0; i < tasks_.size() && i < numbers.size(); i++) {
    if (numbers[i] == Checkpoint::kNone) continue;
    const TaskSpans& task = tasks_[i];
    Checkpoint::Task& saved = checkpoint.tasks[numbers[i]];
    saved.flags |= Checkpoint::flag(task.seen, Checkpoint::seen) |
                   Checkpoint::flag(task.gap, Checkpoint::gap) |
                   Checkpoint::flag(task.from_fork, Checkpoint::from_fork);
    saved.mode = static_cast<std::uint8_t>(task.mode);
    saved.off = static_cast<std::uint8_t>(task.off);
    saved.since = task.since;
    saved.fork_type = task.fork_type;
    saved.open = task.stack.save();
    if ((saved.flags & Checkpoint::idle) == 0) saved.cpu = task.cpu;
  }
  for (Checkpoint::Cpu& cpu : checkpoint.cpus) {
    if (cpu.cpu < cpus_.size()) cpu.open = cpus_[cpu.cpu].save();
  }
}

void SpanTracker::restore(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  tasks_.clear();
  gaps_ = 0;
  for (Stack& stack : cpus_) stack.depth = 0;
  for (TaskIndex i = 0; i < checkpoint.tasks.size(); i++) {
    const Checkpoint::Task& saved = checkpoint.tasks[i];
    TaskSpans& task = state(places.tasks[i]);
    task.seen = (saved.flags & Checkpoint::seen) != 0;
    task.gap = (saved.flags & Checkpoint::gap) != 0;
    task.from_fork = (saved.flags & Checkpoint::from_fork) != 0;
    task.mode = static_cast<Mode>(saved.mode);
    task.off = static_cast<Off>(saved.off);
    task.since = saved.since;
    task.cpu = saved.cpu;
    task.fork_type = saved.fork_type == Checkpoint::kNone ? kNoType : places.types[saved.fork_type];
    task.stack.restore(saved.open, types_, places, false);
  }
  for (const Checkpoint::Cpu& saved : checkpoint.cpus) {
    cpu(saved.cpu).restore(saved.open, types_, places, true);
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
  SpanPlace place;
  const auto all_of = [&](Stack& stack) {
    for (place.depth = 0; place.depth < stack.depth; place.depth++) {
      place.around = place.depth == 0 ? nullptr : &stack.spans[place.depth - 1];
      observer_->reopen(stack.spans[place.depth], place);
    }
  };
  for (place.task = 0; place.task < tasks_.size(); place.task++) all_of(tasks_[place.task].stack);
  place.interrupt = true;
  place.task = 0;
  for (place.cpu = 0; place.cpu < cpus_.size(); place.cpu++) all_of(cpus_[place.cpu]);
}

void SpanTracker::apply(const Event& event, TaskIndex running, bool selected, Step& step) {
  const Meaning& meaning = meanings_[event.id];
  step.depth = static_cast<unsigned>(state(running).stack.depth + cpu(event.cpu).depth);
  switch (meaning.role) {
    case Role::point:
      point(event, running, step);
      break;
    case Role::begin:
      begin(meaning, event, running, selected, step);
      break;
    case Role::end:
      end(meaning, event, running, selected, step);
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
  Stack& stack = stack_of(meaning, event.cpu, state(running));
  const std::size_t at = find_open(stack, meaning, meaning.value(event));
  return at == 0 ? nullptr : &stack.spans[at - 1];
}

void SpanTracker::begin(const Meaning& meaning, const Event& event, TaskIndex running,
                        bool selected, Step& step) {
  TaskSpans& task = state(running);
  const std::uint64_t number = meaning.value(event);
  if (is_syscall(meaning.kind) || is_user(meaning.kind)) {
    const std::size_t around = open_around(task.stack, meaning.kind);
    if (task.stack.depth > around) drop(task.stack, around, Outcome::no_exit);
    step.depth = static_cast<unsigned>(cpu(event.cpu).depth + task.stack.depth);
    if (task.mode == Mode::unknown) step.resolved = CpuState::user;
    in_user_mode(task);
  }
  Stack& stack = stack_of(meaning, event.cpu, task);
  OpenSpan* const span = &stack.push();
  span->type = begun_type(types_, meaning, event, number);
  span->kind = meaning.kind;
  span->match = number;
  span->begin = event.clock;
  span->selected = selected;
  span->of_cpu = &stack != &task.stack;
  if (keep_entries_) span->entry = event;
  if (selected) profile_.opened(span->type);
  if (observer_ != nullptr) [[unlikely]] {
    const auto depth = static_cast<std::uint32_t>(stack.depth - 1);
    observer_->begin(*span, {event.clock, event.cpu, event.pid, running, depth, span->of_cpu,
                             depth > 0 ? &stack.spans[depth - 1] : nullptr});
  }
}

inline void SpanTracker::closed(const OpenSpan& span, Stack& stack, Outcome outcome,
                                std::uint64_t clock) {
  OpenSpan* const around = stack.depth > 0 ? &stack.top() : nullptr;
  if (around != nullptr && !on_cpu(span.kind)) around->add_call(span);
  if (observer_ != nullptr) [[unlikely]]
    tell_end(span, stack, outcome, clock);
}

void SpanTracker::tell_end(const OpenSpan& span, const Stack& stack, Outcome outcome,
                           std::uint64_t clock) {
  SpanPlace place;
  place.clock = clock;
  place.depth = static_cast<std::uint32_t>(stack.depth);
  place.interrupt = span.of_cpu;
  place.around = stack.depth > 0 ? &stack.spans[stack.depth - 1] : nullptr;
  observer_->end(span, outcome, place);
}

void SpanTracker::end(const Meaning& meaning, const Event& event, TaskIndex running, bool selected,
                      Step& step) {
  TaskSpans& task = state(running);
  Stack& cpu_stack = cpu(event.cpu);
  Stack& stack = stack_of(meaning, event.cpu, task);
  const std::uint64_t number = meaning.value(event);
  const std::size_t at = find_open(stack, meaning, number);
  if (at == 0) {
    exit_without_entry(type_of_end(meaning, event, number), task, selected, step);
  } else {
    if (stack.depth > at) drop(stack, at, Outcome::no_exit);
    OpenSpan& span = stack.top();
    stack.depth--;
    step.closed = true;
    step.type = span.type;
    step.duration = event.clock - span.begin;
    step.depth = static_cast<unsigned>(task.stack.depth + cpu_stack.depth);
    profile_.closed(span, Outcome::complete, event.clock, selected);
    closed(span, stack, Outcome::complete, event.clock);
    Stack& around = stack.depth > 0 ? stack : task.stack;
    if (around.depth > 0) around.top().children.add(step.type, 1, step.duration);
  }
  if (is_user(meaning.kind) && task.mode == Mode::unknown) step.resolved = CpuState::user;
  if (is_syscall(meaning.kind) || is_user(meaning.kind)) in_user_mode(task);
}

// Returns the type of the span that the event ends, whose begin is not known; kNoType when the
// event does not say.
TypeIndex SpanTracker::type_of_end(const Meaning& meaning, const Event& event,
                                   std::uint64_t number) {
  if (meaning.same_key) return types_.of(meaning.kind, number, event.id);
  if (!meaning.by_id || meaning.begin == 0) return kNoType;
  return types_.of(meaning.kind, meaning.begin, meaning.begin);
}

void SpanTracker::exit_without_entry(TypeIndex type, TaskSpans& task, bool selected, Step& step) {
  if (type != kNoType) {
    if (selected) profile_.exit_alone(type, Outcome::no_entry);
    return;
  }
  if (task.mode == Mode::unknown) step.resolved = CpuState::system;
  if (!selected) return;
  if (task.from_fork) return profile_.exit_alone(task.fork_type, Outcome::fork_return);
  profile_.exit_alone(kNoType, task.gap ? Outcome::in_gap : Outcome::no_entry);
}

void SpanTracker::point(const Event& event, TaskIndex running, Step& step) {
  TaskSpans& task = state(running);
  if (is_switch(event.id)) {
    // No task switches inside an interrupt: the exit of an interrupt still open was not recorded.
    drop(cpu(event.cpu), 0, Outcome::no_exit);
    step.depth = static_cast<unsigned>(task.stack.depth);
    task.off = switched_out(event.id);
    task.since = event.clock;
    if (event.id == FKT_E_SWITCH_X || event.id == FKT_E_SWITCH_Z) end_task(running);
    // The task may run next on a CPU whose events are being lost.
    if (gaps_ != 0 && !table_[running].idle) lose(state(running));
    return;
  }
  switch (event.id) {
    case FKT_E_FAULT_USER:
      if (task.mode != Mode::unknown || task.stack.depth + cpu(event.cpu).depth > 0) return;
      step.resolved = CpuState::user;
      task.mode = Mode::user;
      return;
    case FKT_E_FORK:
      return fork(event, task);
    case FKT_E_EXEC:
      return exec(event, running);
    case FKT_E_MASK:
      return forget(event.words.empty() ? 0 : event.words[0]);
    case FKT_E_PID_FREE: {
      const TaskIndex freed = table_.find(event.arg & FKT_PID_MASK);
      if (freed != kNoTask && freed != running && table_[freed].left_dead) end_task(freed);
      return;
    }
    default:
      return;
  }
}

void SpanTracker::fork(const Event& event, const TaskSpans& parent) {
  const TaskIndex index = table_.find(event.arg & FKT_PID_MASK);
  if (index == kNoTask || !table_[index].forked) return;
  const std::size_t outermost = open_in_user_mode(parent.stack);
  const TypeIndex call =
      outermost < parent.stack.depth ? parent.stack.spans[outermost].type : kNoType;
  TaskSpans& child = state(index);  // state() may have moved `parent`
  child.mode = Mode::kernel;
  child.from_fork = true;
  child.fork_type = call;
}

void SpanTracker::exec(const Event& event, TaskIndex running) {
  if (event.words.empty()) return;
  const auto old_tid = static_cast<std::uint32_t>(event.words[0]) & FKT_PID_MASK;
  const TaskIndex old = table_.find(old_tid);
  if (old != kNoTask && old != running) {
    // The thread that called execve continues under its leader's number.
    state(std::max(old, running));
    drop(tasks_[running].stack, 0, Outcome::no_exit);
    std::swap(tasks_[running].stack, tasks_[old].stack);
    tasks_[running].mode = tasks_[old].mode;
    tasks_[old].mode = Mode::unknown;
  }
  end_user_mode(tasks_[running].stack);
}

void SpanTracker::end_user_mode(Stack& stack) {
  const std::size_t user = open_in_user_mode(stack);
  if (user == 0) return;
  const auto at = [&](std::size_t depth) {
    return stack.spans.begin() + static_cast<std::ptrdiff_t>(depth);
  };
  const std::size_t rest = stack.depth - user;
  std::rotate(at(0), at(user), at(stack.depth));
  while (stack.depth > rest) {
    const OpenSpan& span = stack.top();
    profile_.closed(span, Outcome::no_exit, 0, false);
    stack.depth--;
    if (observer_ != nullptr) tell_end(span, stack, Outcome::no_exit, 0);
  }
}

void SpanTracker::end_task(TaskIndex task) {
  drop(state(task).stack, 0, Outcome::no_exit);
}

void SpanTracker::drop(Stack& stack, std::size_t depth, Outcome outcome) {
  while (stack.depth > depth) {
    const OpenSpan& span = stack.top();
    const bool never = outcome == Outcome::no_exit && types_[span.type].never_returns;
    const Outcome how = never ? Outcome::never_returns : outcome;
    profile_.closed(span, how, 0, false);
    stack.depth--;
    closed(span, stack, how, 0);
  }
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
    call->own += ticks;
    call->own_selected += selected;
  }
  if (observer_ != nullptr && selected > 0) [[unlikely]] {
    observer_->charge(call, index, state, selected);
  }
  return state;
}

void SpanTracker::begin_gap(std::uint32_t cpu_number, const std::vector<bool>& running_elsewhere,
                            bool again) {
  if (!again) gaps_++;
  drop(cpu(cpu_number), 0, Outcome::in_gap);
  for (TaskIndex index = 0; index < tasks_.size(); index++) {
    const bool elsewhere =
        switches_ && index < running_elsewhere.size() && running_elsewhere[index];
    if (!elsewhere && !stays_on_another(table_[index], cpu_number)) lose(tasks_[index]);
  }
}

void SpanTracker::lose(TaskSpans& task) {
  drop(task.stack, 0, Outcome::in_gap);
  task.mode = Mode::unknown;
  task.gap = true;
  task.from_fork = false;
}

void SpanTracker::forget(std::uint64_t mask) {
  switches_ = records_switches(mask);
  for (Stack& stack : cpus_) drop(stack, 0, Outcome::in_gap);
  for (TaskSpans& task : tasks_) lose(task);
}

void SpanTracker::finish() {
  for (Stack& stack : cpus_) drop(stack, 0, Outcome::no_exit);
  for (TaskSpans& task : tasks_) drop(task.stack, 0, Outcome::no_exit);
}

}  // namespace fkt
