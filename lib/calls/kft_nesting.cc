// SPDX-License-Identifier: GPL-2.0-only
#include "lib/calls/kft_nesting.h"

#include <algorithm>

#include "lib/base/parse.h"

namespace fkt {
namespace {

// us. Entry and delta are rounded down separately, so a call may seem to end this much after its
// caller.
constexpr std::uint64_t kRounding = 1;

}  // namespace

TypeIndex KftNesting::type_of(std::string_view function) {
  const auto [place, fresh] = types_.try_emplace(std::string(function), types());
  if (fresh) names_.push_back(unescaped(function));
  return place->second;
}

std::uint32_t KftNesting::task_of(std::int64_t pid) {
  const auto [place, fresh] = by_pid_.try_emplace(pid, static_cast<std::uint32_t>(tasks_.size()));
  if (fresh) tasks_.push_back({.pid = pid, .stack = {.task = place->second}});
  return place->second;
}

KftNesting::Cpu& KftNesting::cpu_of(std::uint16_t cpu, std::uint32_t task) {
  const auto [place, fresh] = cpus_.try_emplace(cpu);
  if (fresh) {
    place->second.number = place->second.interrupts.cpu = cpu;
    place->second.current = task;
    tasks_[task].runs_on = cpu;
  }
  return place->second;
}

SpanPosition KftNesting::place(const Stack& stack, std::size_t depth, std::uint64_t clock) const {
  SpanPosition place;
  place.clock = clock;
  place.interrupt = stack.of_interrupts;
  place.pid = place.interrupt ? -1 : tasks_[stack.task].pid;
  place.task = stack.task;
  place.cpu = stack.cpu;
  place.depth = static_cast<std::uint32_t>(depth);
  place.around = depth > 0 ? &stack.calls[depth - 1].span : nullptr;
  return place;
}

// Returns true if the innermost call of `stack` can be the caller of `call`.
bool KftNesting::holds(const Stack& stack, const KftCall& call) const {
  const Open& top = stack.calls.back();
  const bool named = names_[top.span.type] == call.caller;
  if (top.end == kUnseen) return named;
  const std::uint64_t end = call.entry + call.delta;
  if (named) return call.entry <= top.end && end <= top.end + kRounding;
  return call.entry < top.end && end <= top.end;
}

void KftNesting::unwind(Stack& stack, const KftCall& call) {
  while (!stack.calls.empty() && !holds(stack, call)) pop(stack, true);
}

void KftNesting::end_before(Stack& stack, std::uint64_t clock) {
  while (!stack.calls.empty() && stack.calls.back().end <= clock) pop(stack, true);
}

void KftNesting::push(Stack& stack, const KftCall& call) {
  if (!stack.calls.empty()) stack.calls.back().nested += call.delta;
  const std::size_t depth = stack.calls.size();
  Open& open = stack.calls.emplace_back();
  open.end = call.exit_seen ? call.entry + call.delta : kUnseen;
  open.cpu = call.cpu;
  open.span.type = type_of(call.function);
  open.span.kind = stack.of_interrupts ? SpanKind::irq : SpanKind::other;
  open.span.begin = call.entry;
  open.span.selected = true;
  profile_.opened(open.span.type);
  if (observer_ != nullptr) observer_->begin(open.span, place(stack, depth, call.entry));
}

// known: false if the log is not contiguous here, so the call's end is unknown.
void KftNesting::pop(Stack& stack, bool known) {
  // Only the innermost call of a task can have been switched out.
  if (!stack.of_interrupts) resume(tasks_[stack.task], stack.calls.back().end);
  Open open = std::move(stack.calls.back());
  stack.calls.pop_back();
  const bool whole = known && open.end != kUnseen;
  const Outcome outcome = whole ? Outcome::complete : known ? Outcome::no_exit : Outcome::in_gap;
  if (whole) {
    stack.cpu = open.cpu;
    stack.ended = open.end;
    const std::uint64_t wall = open.end - open.span.begin;
    const std::uint64_t elsewhere = open.nested + open.span.blocked.ticks;
    open.span.self = open.span.self_selected = wall > elsewhere ? wall - elsewhere : 0;
    if (!stack.calls.empty()) {
      stack.calls.back().span.add_call(open.span);
      stack.calls.back().span.children.add(open.span.type, 1, wall);
    }
    if (observer_ != nullptr) {
      const CpuState state = open.span.kind == SpanKind::irq ? CpuState::irq : CpuState::system;
      observer_->charge(&open.span, stack.task, state, open.span.self);
    }
  }
  profile_.closed(open.span, outcome, open.end, whole);
  if (observer_ != nullptr) {
    observer_->end(open.span, outcome, place(stack, stack.calls.size(), whole ? open.end : 0));
  }
}

// The task runs again from `clock` on (us), or since its innermost call ended, if that was earlier.
void KftNesting::resume(Task& task, std::uint64_t clock) {
  if (!task.off_since) return;
  const std::uint64_t since = *task.off_since;
  task.off_since.reset();
  if (task.stack.calls.empty()) return;
  Open& open = task.stack.calls.back();
  const std::uint64_t until = std::min(clock, open.end);
  if (until == kUnseen || until <= since) return;
  open.span.blocked.count++;
  open.span.blocked.ticks += until - since;
}

void KftNesting::switch_to(Cpu& cpu, std::uint32_t task, const KftCall& call) {
  if (task != cpu.current) {
    Task& before = tasks_[cpu.current];
    // The innermost call that is still open is the one in which the task was switched out, unless
    // the task has moved to another CPU and runs there.
    end_before(before.stack, call.entry);
    if (before.runs_on == cpu.number && !before.stack.calls.empty()) before.off_since = call.entry;
    cpu.current = task;
  }
  tasks_[task].runs_on = cpu.number;
  resume(tasks_[task], call.entry);
}

// The time of the first call of an interrupt is taken out of the interrupted call.
void KftNesting::interrupt(Cpu& cpu, const KftCall& call) {
  unwind(cpu.interrupts, call);
  if (cpu.interrupts.calls.empty()) {
    Task& interrupted = tasks_[cpu.current];
    end_before(interrupted.stack, call.entry);
    if (interrupted.runs_on == cpu.number && !interrupted.stack.calls.empty())
      interrupted.stack.calls.back().nested += call.delta;
    cpu.interrupts.task = cpu.current;
  }
  push(cpu.interrupts, call);
}

// Returns the CPU on which the call begins. If the task has moved since its last call that has
// returned, it did so in the call or before it, whichever is longer.
std::uint16_t KftNesting::first_cpu(const Stack& stack, const KftCall& call) {
  std::uint16_t cpu = stack.cpu;
  std::uint64_t ended = stack.ended;
  for (auto open = stack.calls.rbegin(); open != stack.calls.rend() && open->end <= call.entry;
       ++open) {
    cpu = open->cpu;
    ended = open->end;
  }
  if (ended == kUnseen || call.entry < ended) return call.cpu;
  return call.entry - ended < call.delta ? cpu : call.cpu;
}

void KftNesting::take(const KftCall& call) {
  if (call.interrupt && cpus_.contains(call.cpu)) return interrupt(cpus_[call.cpu], call);
  const std::uint32_t task = task_of(call.pid);
  if (call.interrupt) return interrupt(cpu_of(call.cpu, task), call);
  Cpu& cpu = cpu_of(first_cpu(tasks_[task].stack, call), task);
  if (!cpu.interrupts.calls.empty()) {
    unwind(cpu.interrupts, call);
    // Code of the interrupt before and after its calls with PID -1 has the task's PID.
    const bool makes = !cpu.interrupts.calls.empty() && tasks_[cpu.current].pid == call.pid &&
                       names_[cpu.interrupts.calls.back().span.type] == call.caller;
    if (makes) return interrupt(cpu, call);
  }
  while (!cpu.interrupts.calls.empty()) pop(cpu.interrupts, true);
  switch_to(cpu, task, call);
  unwind(tasks_[task].stack, call);
  push(tasks_[task].stack, call);
}

void KftNesting::add(const KftCall& call) {
  if (held_) {
    // The caller of the first call with PID -1 is the interrupt itself.
    const bool makes = call.interrupt && !held_->interrupt && call.caller == held_->function &&
                       call.entry >= held_->entry;
    held_->interrupt |= makes && (!held_->exit_seen || call.entry <= held_->entry + held_->delta);
    take(*held_);
  }
  if (call.entry < last_) {
    backwards_++;
    drop_all(false);
  }
  last_ = call.entry;
  held_ = call;
}

void KftNesting::drop_all(bool known) {
  for (auto& [number, cpu] : cpus_) {
    while (!cpu.interrupts.calls.empty()) pop(cpu.interrupts, known);
  }
  for (Task& task : tasks_) {
    while (!task.stack.calls.empty()) pop(task.stack, known);
    task.off_since.reset();
  }
}

void KftNesting::finish() {
  if (held_) take(*held_);
  held_.reset();
  drop_all(true);
}

}  // namespace fkt
