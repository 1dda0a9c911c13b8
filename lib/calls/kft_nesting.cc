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
  if (fresh) tasks_.emplace_back().pid = pid;
  return place->second;
}

SpanPosition KftNesting::place(const std::vector<Open>& stack, std::size_t depth,
                               std::uint32_t task, std::uint64_t clock) const {
  SpanPosition place;
  place.clock = clock;
  place.interrupt = &stack == &interrupts_;
  place.pid = place.interrupt ? -1 : tasks_[task].pid;
  place.task = task;
  place.depth = static_cast<std::uint32_t>(depth);
  place.around = depth > 0 ? &stack[depth - 1].span : nullptr;
  return place;
}

// Returns true if the innermost call of `stack` can be the caller of `call`.
bool KftNesting::holds(const std::vector<Open>& stack, const KftCall& call) const {
  const Open& top = stack.back();
  const bool named = names_[top.span.type] == call.caller;
  if (top.end == kUnseen) return named;
  const std::uint64_t end = call.entry + call.delta;
  if (named) return call.entry <= top.end && end <= top.end + kRounding;
  return call.entry < top.end && end <= top.end;
}

void KftNesting::unwind(std::vector<Open>& stack, const KftCall& call, std::uint32_t task) {
  while (!stack.empty() && !holds(stack, call)) pop(stack, task, true);
}

void KftNesting::end_before(std::vector<Open>& stack, std::uint64_t clock) {
  while (!stack.empty() && stack.back().end <= clock) pop(stack, current_, true);
}

void KftNesting::push(std::vector<Open>& stack, const KftCall& call, std::uint32_t task) {
  if (!stack.empty()) stack.back().nested += call.delta;
  const std::size_t depth = stack.size();
  Open& open = stack.emplace_back();
  open.end = call.exit_seen ? call.entry + call.delta : kUnseen;
  open.span.type = type_of(call.function);
  open.span.kind = &stack == &interrupts_ ? SpanKind::irq : SpanKind::other;
  open.span.begin = call.entry;
  open.span.selected = true;
  profile_.opened(open.span.type);
  if (observer_ != nullptr) observer_->begin(open.span, place(stack, depth, task, call.entry));
}

// known: false if the log is not contiguous here, so the call's end is unknown.
void KftNesting::pop(std::vector<Open>& stack, std::uint32_t task, bool known) {
  // Only the innermost call of a task can have been switched out.
  if (&stack == &tasks_[task].stack) resume(tasks_[task], stack.back().end);
  Open open = std::move(stack.back());
  stack.pop_back();
  const bool whole = known && open.end != kUnseen;
  const Outcome outcome = whole ? Outcome::complete : known ? Outcome::no_exit : Outcome::in_gap;
  if (whole) {
    const std::uint64_t wall = open.end - open.span.begin;
    const std::uint64_t elsewhere = open.nested + open.span.blocked.ticks;
    open.span.own = open.span.own_selected = wall > elsewhere ? wall - elsewhere : 0;
    if (!stack.empty()) {
      stack.back().span.add_call(open.span);
      stack.back().span.children.add(open.span.type, 1, wall);
    }
    if (observer_ != nullptr) {
      const CpuState state = open.span.kind == SpanKind::irq ? CpuState::irq : CpuState::system;
      observer_->charge(&open.span, task, state, open.span.own);
    }
  }
  profile_.closed(open.span, outcome, open.end, whole);
  if (observer_ != nullptr) {
    observer_->end(open.span, outcome, place(stack, stack.size(), task, whole ? open.end : 0));
  }
}

// The task runs again from `clock` on (us), or since its innermost call ended, if that was earlier.
void KftNesting::resume(Task& task, std::uint64_t clock) {
  if (!task.off_since) return;
  const std::uint64_t since = *task.off_since;
  task.off_since.reset();
  if (task.stack.empty()) return;
  Open& open = task.stack.back();
  const std::uint64_t until = std::min(clock, open.end);
  if (until == kUnseen || until <= since) return;
  open.span.blocked.count++;
  open.span.blocked.ticks += until - since;
}

void KftNesting::switch_to(std::uint32_t task, const KftCall& call) {
  if (task != current_) {
    Task& before = tasks_[current_];
    // The innermost call that is still open is the one in which the task was switched out.
    end_before(before.stack, call.entry);
    if (!before.stack.empty()) before.off_since = call.entry;
    current_ = task;
  }
  resume(tasks_[task], call.entry);
}

// The time of the first call of an interrupt is taken out of the interrupted call.
void KftNesting::interrupt(const KftCall& call) {
  unwind(interrupts_, call, current_);
  if (tasks_.empty()) current_ = task_of(call.pid);
  if (interrupts_.empty()) {
    std::vector<Open>& interrupted = tasks_[current_].stack;
    end_before(interrupted, call.entry);
    if (!interrupted.empty()) interrupted.back().nested += call.delta;
  }
  push(interrupts_, call, current_);
}

void KftNesting::take(const KftCall& call) {
  if (call.interrupt) return interrupt(call);
  if (!interrupts_.empty()) {
    unwind(interrupts_, call, current_);
    // Code of the interrupt before and after its calls with PID -1 has the task's PID.
    const bool makes = !interrupts_.empty() && tasks_[current_].pid == call.pid &&
                       names_[interrupts_.back().span.type] == call.caller;
    if (makes) return interrupt(call);
  }
  while (!interrupts_.empty()) pop(interrupts_, current_, true);
  const std::uint32_t task = task_of(call.pid);
  switch_to(task, call);
  unwind(tasks_[task].stack, call, task);
  push(tasks_[task].stack, call, task);
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
  while (!interrupts_.empty()) pop(interrupts_, current_, known);
  for (std::uint32_t task = 0; task < tasks_.size(); task++) {
    while (!tasks_[task].stack.empty()) pop(tasks_[task].stack, task, known);
    tasks_[task].off_since.reset();
  }
}

void KftNesting::finish() {
  if (held_) take(*held_);
  held_.reset();
  drop_all(true);
}

}  // namespace fkt
