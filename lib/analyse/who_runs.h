// SPDX-License-Identifier: GPL-2.0-only
// WhoRuns: which task each CPU runs, and the rules for what a gap hides and what wakes a task. They
// are used by everything that follows tasks: statistics, task states and timeline.
//
// A CPU runs the task that its last switch named, or that its events name. In a gap it may run any
// task, so a gap hides each task that is not seen to run on another CPU: those not running when it
// begins, and those that leave their CPU before it ends. Such a task is unknown until it is seen to
// run, or until it is woken or forked while there is no gap.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/analyse/tasks.h"

namespace fkt {

// Returns whether switches are recorded with these layers (a bit each). Without them no task is
// known to stay on its CPU.
constexpr bool records_switches(std::uint64_t mask) {
  return (mask >> FKT_L_PROCESS & 1) != 0;
}

// Returns whether the event is a wake-up of its task. A wake-up may cause two of these events; the
// second finds the task ready or running and must be ignored.
constexpr bool is_wake_up(std::uint16_t id) {
  return id == FKT_E_WAKING || id == FKT_E_WAKEUP || id == FKT_E_WAKEUP_NEW;
}

// Returns whether the task is the idle task of another CPU, which a gap of this CPU cannot hide.
inline bool stays_on_another(const TaskInfo& task, std::uint32_t cpu) {
  return task.idle && task.idle_cpu != cpu;
}

class WhoRuns {
 public:
  explicit WhoRuns(std::uint64_t mask) : switches_(records_switches(mask)) {}

  // Returns the task that the CPU runs; kNoTask when it is not known.
  TaskIndex on(std::uint32_t cpu) const { return cpu < cpus_.size() ? cpus_[cpu].task : kNoTask; }
  // Call before an event of `task` is applied: returns true when it shows that the CPU runs another
  // task than was known. An event between a switch and its effect may still name the task that
  // leaves; it shows nothing.
  bool surprises(std::uint32_t cpu, TaskIndex task) {
    Cpu& now = at(cpu);
    if (now.task != task) return now.left != task || now.task == kNoTask;
    now.left = kNoTask;
    return false;
  }
  void runs(std::uint32_t cpu, TaskIndex task) {
    end_gap(cpu);
    at(cpu).task = task;
    at(cpu).left = kNoTask;
  }
  void switches(std::uint32_t cpu, TaskIndex task, TaskIndex next) {
    at(cpu).task = next;
    at(cpu).left = task;
  }

  void begin_gap(std::uint32_t cpu) {
    Cpu& now = at(cpu);
    gaps_ += !now.in_gap;
    now.in_gap = true;
    now.task = now.left = kNoTask;
  }
  void end_gap(std::uint32_t cpu) {
    Cpu& now = at(cpu);
    gaps_ -= now.in_gap;
    now.in_gap = false;
  }
  bool in_gap() const { return gaps_ != 0; }
  // Returns, for the tasks below index `tasks`, whether a CPU other than this one is seen to run
  // it.
  std::vector<bool> running_elsewhere(std::uint32_t cpu, TaskIndex tasks) const {
    std::vector<bool> running(tasks);
    for (std::uint32_t other = 0; other < cpus_.size() && switches_; other++) {
      if (other != cpu && cpus_[other].task < tasks) running[cpus_[other].task] = true;
    }
    return running;
  }
  // The set of recorded layers (a bit each) changes.
  void set_mask(std::uint64_t mask) { switches_ = records_switches(mask); }
  // Forgets the tasks of all CPUs.
  void clear() {
    cpus_.clear();
    gaps_ = 0;
  }

  std::size_t bytes() const { return cpus_.size() * sizeof(Cpu); }

 private:
  struct Cpu {
    TaskIndex task = kNoTask;  // the task that runs
    TaskIndex left = kNoTask;  // the task switched out, until `task` has an event
    bool in_gap = false;
  };
  Cpu& at(std::uint32_t cpu) {
    if (cpu >= cpus_.size()) cpus_.resize(cpu + 1);
    return cpus_[cpu];
  }

  std::vector<Cpu> cpus_;
  unsigned gaps_ = 0;  // CPUs that are in a gap
  bool switches_;      // switches are recorded
};

}  // namespace fkt
