// SPDX-License-Identifier: GPL-2.0-only
// RaisedSoftirqs: the task that raised the softirq that a CPU handles now. A task that sends to a
// socket of its own machine raises NET_RX, in which the receiver's side runs. No task is returned
// for a softirq that an interrupt raised, even if a task raised it too.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/analyse/span_tracker.h"
#include "lib/analyse/tasks.h"

namespace fkt {

class RaisedSoftirqs {
 public:
  // Adds an event, after `spans` have applied it. running: the task that ran on its CPU.
  void add(const Event& event, TaskIndex running, const SpanTracker& spans) {
    if (event.id == FKT_E_SOFTIRQ_RAISE) return raise(event, running, spans);
    if (event.id == kGapBegins) {
      at(event.cpu) = {};
    } else if (event.id == FKT_E_SOFTIRQ_ENTRY) {
      Cpu& cpu = at(event.cpu);
      Raise& raise = cpu.raises[event.arg % kSoftirqs];
      cpu.handled = raise.by_interrupt ? kNoTask : raise.task;
      raise = {};
    } else if (event.id == FKT_E_SOFTIRQ_EXIT) {
      at(event.cpu).handled = kNoTask;
    }
  }
  // Returns the task that raised the softirq which the CPU handles; kNoTask: it is not known, or
  // the CPU does something else.
  TaskIndex raiser(std::uint32_t cpu, const SpanTracker& spans) const {
    const bool handles = spans.interrupt_state(cpu) == CpuState::softirq;
    return handles && cpu < cpus_.size() ? cpus_[cpu].handled : kNoTask;
  }

 private:
  static constexpr std::size_t kSoftirqs = 16;
  struct Raise {
    TaskIndex task = kNoTask;
    bool by_interrupt = false;
  };
  struct Cpu {
    Raise raises[kSoftirqs];
    TaskIndex handled = kNoTask;  // the task that raised the softirq that the CPU handles now
  };

  Cpu& at(std::uint32_t cpu) {
    if (cpu >= cpus_.size()) cpus_.resize(cpu + 1);
    return cpus_[cpu];
  }
  void raise(const Event& event, TaskIndex running, const SpanTracker& spans) {
    Cpu& cpu = at(event.cpu);
    Raise& raise = cpu.raises[event.arg % kSoftirqs];
    // A softirq that is raised in a softirq counts for the task that raised the first one; one that
    // is raised in an interrupt handler counts for no task.
    const bool interrupted = spans.interrupt_state(event.cpu) != CpuState::running;
    const TaskIndex by = interrupted ? raiser(event.cpu, spans) : running;
    if (by == kNoTask) raise.by_interrupt = true;
    if (raise.task == kNoTask) raise.task = by;
  }

  std::vector<Cpu> cpus_;
};

}  // namespace fkt
