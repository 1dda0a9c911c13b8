// SPDX-License-Identifier: GPL-2.0-only
// Tasks: who is meant by a pid at a moment. Names follow fork and rename, pid 0 is one idle task
// per CPU, and a number that is used again is another task (2005 report, section 6).
//
// A task is known by its index, which is never used again; pids are looked up in a flat table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/event.h"
#include "lib/trace.h"

namespace fkt {

// A switch in any of its forms.
constexpr bool is_switch(std::uint16_t id) {
  return id >= FKT_E_SWITCH_R && id <= FKT_E_SWITCH_PREEMPT;
}

using TaskIndex = std::uint32_t;
// The name of the kernel thread that writes the pages.
inline constexpr std::string_view kDrainName = "fkt_drain";
inline constexpr TaskIndex kNoTask = ~TaskIndex{0};

struct TaskInfo {
  std::uint32_t tid = 0;
  std::uint32_t tgid = 0;      // tid where the file does not say
  TaskIndex leader = kNoTask;  // the task whose number names the process; itself for a leader
  std::string comm;            // empty: not known
  std::uint32_t idle_cpu = 0;  // of an idle task
  bool idle = false;
  bool kernel = false;     // a kernel thread: its time is always the system's
  bool member = true;      // of what is recorded: false only under a filter
  bool forked = false;     // began during the recording
  bool exited = false;     // EXIT seen
  bool left_dead = false;  // switched out for the last time
  bool freed = false;      // its number may be in use again
  std::uint64_t born = 0;  // its fork (ticks); 0: not seen
};

class Tasks {
 public:
  explicit Tasks(const TraceInfo& info);

  // The task that ran when `event` was recorded.
  TaskIndex running(const Event& event) {
    return event.pid == 0 ? idle(event.cpu) : by_tid(event.pid);
  }
  TaskIndex idle(std::uint32_t cpu);
  // The task that now has this number; one without a name is made up where none is known.
  TaskIndex by_tid(std::uint32_t tid);
  // The same for looking only: kNoTask where none is known.
  TaskIndex find(std::uint32_t tid) const {
    return tid != 0 && tid < by_tid_.size() ? by_tid_[tid] : kNoTask;
  }

  // A CPU's idle task; kNoTask: it has not been seen.
  TaskIndex find_idle(std::uint32_t cpu) const {
    return cpu < by_cpu_.size() ? by_cpu_[cpu] : kNoTask;
  }

  // What fork, exec, exit, pid_free, rename and the switches say. `task`: running(event).
  void apply(const Event& event, TaskIndex task);

  // What tells numbers apart from here on, and nothing else: names and processes are as unknown.
  struct Number {
    TaskIndex task = kNoTask;
    std::uint32_t tid = 0;  // of an idle task: its CPU
    bool idle = false, freed = false, left_dead = false;
  };
  std::vector<Number> numbers() const;
  // The same tasks as when `numbers` were taken and there were `count` of them.
  Tasks at(TaskIndex count, const std::vector<Number>& numbers) const;

  // Writes the tasks that can still be met, or are marked in `used` (by index), which are all it
  // has room for. Returns each one's number in the cut by index, Cut::kNone for those left out.
  std::vector<std::uint32_t> save(Cut& cut, std::vector<bool> used) const;

  // Goes on from a cut: all that is known besides is of the past. Returns the tasks by their
  // numbers in it; one that was known before, by its number and birth, keeps its index.
  std::vector<TaskIndex> restore(const Cut& cut);

  const TaskInfo& operator[](TaskIndex task) const { return tasks_[task]; }
  TaskIndex size() const { return static_cast<TaskIndex>(tasks_.size()); }
  // Its name, "idle/CPU 1" for an idle task, "?" where none is known.
  std::string_view name(TaskIndex task) const;
  // A filter was on: only members' events were recorded.
  bool filtered() const { return filtered_; }
  // What thread 0 is called: the idle task, or any that was not recorded.
  std::string_view zero_name() const { return restricted_ ? "other" : "idle"; }
  // Is `task` that process, or one of its threads?
  bool belongs(TaskIndex task, std::uint32_t pid) const {
    return tasks_[task].tid == pid || tasks_[task].tgid == pid;
  }

 private:
  Tasks() = default;
  TaskIndex add(std::uint32_t tid, std::uint32_t tgid);
  void fork(const Event& event);
  static void rename(TaskInfo& task, std::string comm);

  std::vector<TaskInfo> tasks_;
  std::vector<TaskIndex> by_tid_;  // as many as the highest number seen
  std::vector<TaskIndex> by_cpu_;  // idle tasks
  std::vector<std::string> idle_names_;
  std::uint32_t filter_pid_ = 0;
  TaskIndex listed_at_end_ = 0;  // the first so many tasks: as the list at the end has them
  bool filtered_ = false;
  bool restricted_ = false;
  bool descendants_ = false;  // ... and children join it
};

}  // namespace fkt
