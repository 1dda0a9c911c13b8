// SPDX-License-Identifier: GPL-2.0-only
// Tasks: which task a pid means at a given time. Names follow fork and rename events, pid 0 is one
// idle task per CPU, and a number that is reused is another task.
//
// A task is identified by its index, which is never reused; pids are looked up in a flat table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/format/event.h"
#include "lib/read/recording.h"

namespace fkt {

using TaskIndex = std::uint32_t;
// Name of the kernel thread that writes the pages.
inline constexpr std::string_view kDrainName = "fkt_drain";
inline constexpr TaskIndex kNoTask = ~TaskIndex{0};

struct TaskInfo {
  std::uint32_t tid = 0;
  std::uint32_t tgid = 0;      // equals tid where the file does not tell
  TaskIndex leader = kNoTask;  // of the process; a leader has its own index
  TaskIndex parent = kNoTask;  // the task that forked it; its index is lower. kNoTask: not seen
  std::string comm;            // a task can have the empty name, too
  std::uint32_t idle_cpu = 0;  // of an idle task
  bool named = false;          // comm is known
  bool idle = false;
  bool kernel = false;     // a kernel thread: its time is always system time
  bool member = true;      // it is recorded; false only with a filter
  bool command = false;    // the recorded command or a descendant; with --pid that process
  bool forked = false;     // it began during the recording
  bool exited = false;     // an EXIT event was seen
  bool left_dead = false;  // switched out for the last time
  bool freed = false;      // its number may have been reused
  std::uint64_t born = 0;  // time of its fork event (ticks); 0: not seen
};

// Returns whether the event changes what is known of a task but for where it runs: its number, its
// process or its name.
constexpr bool describes_task(std::uint16_t id) {
  switch (id) {
    case FKT_E_FORK:
    case FKT_E_EXEC:
    case FKT_E_EXIT:
    case FKT_E_PID_FREE:
    case FKT_E_RENAME:
      return true;
    default:
      return false;
  }
}

// Returns true for all events at which Tasks::apply() may change a task, which are switches and
// those that describe a task, and for few others: for a quick decision.
constexpr bool may_change_tasks(std::uint16_t id) {
  return id >= FKT_E_SWITCH_R && id <= FKT_E_RENAME;
}

class Tasks {
 public:
  explicit Tasks(const RecordingInfo& info);

  // Returns the task that ran when `event` was recorded.
  TaskIndex running(const Event& event) {
    return event.pid == 0 ? idle(event.cpu) : by_tid(event.pid);
  }
  TaskIndex idle(std::uint32_t cpu);
  // Returns the task that has this number at present; adds a nameless one when none is known.
  TaskIndex by_tid(std::uint32_t tid) {
    tid &= FKT_PID_MASK;  // a damaged page header must not make the table huge
    const TaskIndex known = find(tid);
    // A task may still run after its number was freed, but not after its last switch as well.
    if (known != kNoTask && !(tasks_[known].freed && tasks_[known].left_dead)) return known;
    return add(tid, tid);
  }
  // As by_tid(), but returns kNoTask when none is known.
  TaskIndex find(std::uint32_t tid) const {
    return tid != 0 && tid < by_tid_.size() ? by_tid_[tid] : kNoTask;
  }

  // Returns the CPU's idle task; kNoTask when it has not been seen.
  TaskIndex find_idle(std::uint32_t cpu) const {
    return cpu < by_cpu_.size() ? by_cpu_[cpu] : kNoTask;
  }

  // Applies fork, exec, exit, pid_free, rename and switch events. task: running(event).
  void apply(const Event& event, TaskIndex task) {
    if (may_change_tasks(event.id)) change(event, task);
  }

  // Returns whether later events may name the task by its number.
  bool can_be_met(TaskIndex task) const {
    const TaskInfo& info = tasks_[task];
    return info.idle || (find(info.tid) == task && !(info.freed && info.left_dead));
  }
  // What is needed to find tasks by number from a given time on, without names and processes.
  struct Number {
    TaskIndex task = kNoTask;
    std::uint32_t tid = 0;  // of an idle task: its CPU
    bool idle = false, freed = false, left_dead = false;
  };
  // Returns the numbers of the tasks that later events may name.
  std::vector<Number> numbers() const;
  // Returns the tasks as they were when `numbers` was taken and size() was `count`. size() of
  // the result never exceeds that of this object: further tasks, which only a recording with
  // contradictory clocks has, are given the index of the last one.
  Tasks at(TaskIndex count, const std::vector<Number>& numbers) const;

  // Writes the tasks that later events may name, those marked in `used` (by index), and their
  // leaders. Returns by index each task's number in the checkpoint; Checkpoint::kNone for those
  // left out.
  std::vector<std::uint32_t> save(Checkpoint& checkpoint, std::vector<bool> used) const;

  // Continues from a checkpoint: from then on only its tasks can be found by number. Returns the
  // indexes of the checkpoint's tasks; a task known before, by number and birth, keeps its index.
  std::vector<TaskIndex> restore(const Checkpoint& checkpoint);

  const TaskInfo& operator[](TaskIndex task) const { return tasks_[task]; }
  TaskIndex size() const { return static_cast<TaskIndex>(tasks_.size()); }
  // Returns the task's name: "idle/CPU 1" for an idle task, "?" if it is not known.
  std::string_view name(TaskIndex task) const;
  // Returns whether a filter was set: only members' events were recorded.
  bool filtered() const { return filtered_; }
  // Name of pid 0: the idle task, or in a restricted recording any task that is not recorded.
  std::string_view zero_name() const { return restricted_ ? "other" : "idle"; }
  // Returns whether the task is a thread of process `pid`, or has that number itself.
  bool belongs(TaskIndex task, std::uint32_t pid) const {
    return tasks_[task].tid == pid || tasks_[task].tgid == pid;
  }

 private:
  Tasks() = default;
  bool is_full() const { return size() >= most_ && size() > 0; }
  TaskIndex add(std::uint32_t tid, std::uint32_t tgid);
  void change(const Event& event, TaskIndex running);
  void mark_command(const std::vector<Task>& listed);
  void fork(const Event& event);
  static void rename(TaskInfo& task, std::string comm);

  std::vector<TaskInfo> tasks_;
  std::vector<TaskIndex> by_tid_;  // size: highest number seen + 1
  std::vector<TaskIndex> by_cpu_;  // the CPUs' idle tasks
  std::vector<std::string> idle_names_;
  std::uint32_t filter_pid_ = 0;
  std::uint32_t command_pid_ = 0;  // 0: nothing was run or chosen
  TaskIndex listed_at_end_ =
      0;  // number of tasks, from index 0 on, that are from the list made at the end
  TaskIndex most_ = kNoTask;  // maximum of size()
  bool filtered_ = false;
  bool restricted_ = false;
  bool descendants_ = false;  // with filtered_: children of members are members
};

}  // namespace fkt
