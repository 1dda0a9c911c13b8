// SPDX-License-Identifier: GPL-2.0-only
// The waker of a task: the interrupt that was being handled on the CPU of the wake-up, or else the
// task that ran on that CPU.
#pragma once

#include <cstdint>
#include <string>

#include "lib/analyse/analysis.h"

namespace fkt {

struct Waker {
  bool by_interrupt = false;
  std::uint32_t source = kNoTask;  // by_interrupt: its TypeIndex; else a TaskIndex
};

// Returns the waker of the wake-up `event`, which `analysis` has applied. running: the task that
// ran on its CPU.
inline Waker waker_of(const Analysis& analysis, const Event& event, TaskIndex running) {
  const TypeIndex interrupt = analysis.spans().innermost_interrupt(event.cpu);
  if (interrupt != kNoType) return {true, interrupt};
  return {false, running};
}

// Returns "irq 14 ide0" or "find (158)". The name is not escaped.
inline std::string waker_name(const Analysis& analysis, const Waker& waker) {
  if (waker.by_interrupt) return analysis.types()[waker.source].name;
  return std::string(analysis.tasks().name(waker.source)) + " (" +
         std::to_string(analysis.tasks()[waker.source].tid) + ')';
}

}  // namespace fkt
