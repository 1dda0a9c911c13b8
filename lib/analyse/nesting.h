// SPDX-License-Identifier: GPL-2.0-only
// Nesting: the rules by which spans nest. SpanStacks applies them (lib/analyse/span_stacks.h).
//
// Each CPU has a stack of interrupts, and of what is called in them. Each task has a stack: at its
// bottom the spans of user mode (Nesting::user), above them a system call or nothing, above that
// what is called. A stack is anything with size() and operator[], 0 being its bottom; its elements
// have `kind` and `match`.
#pragma once

#include <algorithm>
#include <cstddef>

#include "lib/analyse/meanings.h"

namespace fkt {

// Returns whether a span of this kind is on the stack of its CPU, not on that of its task.
// in_interrupt: the CPU's stack is not empty.
constexpr bool nests_on_cpu(SpanKind kind, bool in_interrupt) {
  return on_cpu(kind) || (in_interrupt && is_called(kind));
}

// Returns how many spans of user mode are open at the bottom of a task's stack.
template <class Stack>
std::size_t open_in_user_mode(const Stack& task) {
  std::size_t open = 0;
  while (open < task.size() && is_user(task[open].kind)) open++;
  return open;
}

// Returns how many spans of its stack are open around a span of this kind that begins now. Further
// ones have ended unseen: a task is in one system call at a time, and in none when it is in user
// mode.
template <class Stack>
std::size_t open_around(const Stack& stack, SpanKind kind) {
  if (!is_syscall(kind) && !is_user(kind)) return stack.size();
  return open_in_user_mode(stack);
}

// Returns how deep the span that an end event ends is in `stack`, counted from 1; 0: it is not
// there. Spans above it have ended unseen. number: the event's key.
template <class Stack>
std::size_t find_open(const Stack& stack, const Meaning& meaning, std::uint64_t number) {
  std::size_t at = stack.size();
  while (at > 0 && !meaning.ends(stack[at - 1].kind, stack[at - 1].match, number)) at--;
  return at;
}

}  // namespace fkt
