// SPDX-License-Identifier: GPL-2.0-only
// WhoRuns: which task each CPU runs, and the rules that decide what a gap hides and what wakes a
// task. All that follows tasks keeps to these rules: statistics, task states and timeline.
//
// A CPU runs the task that its last switch named, or the one that its events name. In a gap it may
// run any task. So a gap hides every task that is not seen to run on another CPU: those that do not
// run when it begins, and those that leave their CPU before it ends, from there on. Such a task is
// unknown until it is seen to run again, or is woken or forked while there is no gap.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/tasks.h"

namespace fkt {

// Are switches recorded with these layers (a bit each)? Else no task is seen to stay on a CPU.
constexpr bool records_switches(std::uint64_t mask) {
  return (mask >> FKT_L_PROCESS & 1) != 0;
}

// The event says that its task is awake. A wake-up is told by up to two of these: the second one
// finds the task ready or running, and says nothing.
constexpr bool is_wake_up(std::uint16_t id) {
  return id == FKT_E_WAKING || id == FKT_E_WAKEUP || id == FKT_E_WAKEUP_NEW;
}

// An idle task runs on its own CPU only: no other one's gap hides it.
inline bool stays_on_another(const TaskInfo& task, std::uint32_t cpu) {
  return task.idle && task.idle_cpu != cpu;
}

class WhoRuns {
 public:
  explicit WhoRuns(std::uint64_t mask) : switches_(records_switches(mask)) {}

  // kNoTask: not known.
  TaskIndex on(std::uint32_t cpu) const { return cpu < cpus_.size() ? cpus_[cpu].task : kNoTask; }
  // Before an event of `task` is applied: does it say that another task runs than was known?
  // Between a switch and its effect an event may still name the task that leaves, which means
  // nothing.
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
  // By TaskIndex, the first `tasks` of them: does another CPU than this one run the task, and is
  // that seen?
  std::vector<bool> running_elsewhere(std::uint32_t cpu, TaskIndex tasks) const {
    std::vector<bool> running(tasks);
    for (std::uint32_t other = 0; other < cpus_.size() && switches_; other++) {
      if (other != cpu && cpus_[other].task < tasks) running[cpus_[other].task] = true;
    }
    return running;
  }
  // Other layers (a bit each) are recorded from here on.
  void set_mask(std::uint64_t mask) { switches_ = records_switches(mask); }
  // Nothing is known of any CPU.
  void clear() {
    cpus_.clear();
    gaps_ = 0;
  }

  std::size_t bytes() const { return cpus_.size() * sizeof(Cpu); }

 private:
  struct Cpu {
    TaskIndex task = kNoTask;  // that runs
    TaskIndex left = kNoTask;  // it was switched out, and `task` had no event yet
    bool in_gap = false;
  };
  Cpu& at(std::uint32_t cpu) {
    if (cpu >= cpus_.size()) cpus_.resize(cpu + 1);
    return cpus_[cpu];
  }

  std::vector<Cpu> cpus_;
  unsigned gaps_ = 0;  // CPUs that are in one
  bool switches_;      // are recorded
};

}  // namespace fkt
