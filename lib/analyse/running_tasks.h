// SPDX-License-Identifier: GPL-2.0-only
// RunningTasks: which task each CPU runs, and the rules for what a gap hides and what wakes a task.
// They are used by everything that follows tasks: the times of CPUs (lib/analyse/cpu_accounting.h)
// and the states of tasks (lib/analyse/task_states.h).
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

// What one CPU runs.
struct CpuRuns {
  enum class Shown : std::uint8_t {
    no_change,    // the task that the event before it named
    new_task,     // the task that the last switch named: the switch takes effect
    unseen_task,  // another one: it is not known when it began to run
  };

  TaskIndex task = kNoTask;  // the task that runs
  TaskIndex left = kNoTask;  // the task switched out, until `task` has an event
  bool in_gap = false;

  // Call before an event of `named` is applied: returns what it shows. An event between a switch
  // and its effect may still name the task that leaves; it shows nothing. After unseen_task, runs()
  // must be called.
  Shown arrive(TaskIndex named) {
    if (left == named && left != kNoTask) return Shown::no_change;
    if (task != named || named == kNoTask) return Shown::unseen_task;
    if (left == kNoTask) return Shown::no_change;
    left = kNoTask;
    return Shown::new_task;
  }
  // Returns the task that the last event named.
  TaskIndex named() const { return left != kNoTask ? left : task; }
  // Returns the task that the last switch named, and that had no event yet; kNoTask: there is none.
  TaskIndex next() const { return left != kNoTask ? task : kNoTask; }
  void runs(TaskIndex now) { *this = {.task = now}; }
  void switches(TaskIndex from, TaskIndex to) {
    task = to;
    left = from;
  }
  void begin_gap() { *this = {.in_gap = true}; }
};

// Returns, for the tasks below index `tasks`, whether a CPU other than this one is seen to run it.
// runs: where an element of `cpus` has its CpuRuns.
template <class Cpu>
std::vector<bool> running_elsewhere(const std::vector<Cpu>& cpus, CpuRuns Cpu::*runs,
                                    std::uint32_t cpu, TaskIndex tasks) {
  std::vector<bool> running(tasks);
  for (std::uint32_t other = 0; other < cpus.size(); other++) {
    const TaskIndex task = (cpus[other].*runs).task;
    if (other != cpu && task < tasks) running[task] = true;
  }
  return running;
}

class RunningTasks {
 public:
  explicit RunningTasks(std::uint64_t mask) : switches_(records_switches(mask)) {}

  // Returns the task that the CPU runs; kNoTask when it is not known.
  TaskIndex on(std::uint32_t cpu) const {
    return cpu < cpus_.size() ? cpus_[cpu].now.task : kNoTask;
  }
  // Call before an event of `task` is applied: returns true when it shows that the CPU runs another
  // task than was known.
  bool surprises(std::uint32_t cpu, TaskIndex task) {
    return at(cpu).arrive(task) == CpuRuns::Shown::unseen_task;
  }
  void runs(std::uint32_t cpu, TaskIndex task) {
    gaps_ -= at(cpu).in_gap;
    at(cpu).runs(task);
  }
  void switches(std::uint32_t cpu, TaskIndex task, TaskIndex next) { at(cpu).switches(task, next); }
  void begin_gap(std::uint32_t cpu) {
    gaps_ += !at(cpu).in_gap;
    at(cpu).begin_gap();
  }
  bool in_gap() const { return gaps_ != 0; }
  // Returns, for the tasks below index `tasks`, whether a CPU other than this one is seen to run
  // it.
  std::vector<bool> running_elsewhere(std::uint32_t cpu, TaskIndex tasks) const {
    if (!switches_) return std::vector<bool>(tasks);
    return fkt::running_elsewhere(cpus_, &Cpu::now, cpu, tasks);
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
    CpuRuns now;
  };
  CpuRuns& at(std::uint32_t cpu) {
    if (cpu >= cpus_.size()) cpus_.resize(cpu + 1);
    return cpus_[cpu].now;
  }

  std::vector<Cpu> cpus_;
  unsigned gaps_ = 0;  // CPUs that are in a gap
  bool switches_;      // switches are recorded
};

}  // namespace fkt
