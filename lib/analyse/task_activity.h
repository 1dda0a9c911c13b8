// SPDX-License-Identifier: GPL-2.0-only
// What each task was doing: running, ready (waiting for a CPU) or asleep, and in which call; what
// woke it, and how long it then waited for a CPU.
//
// lib/analyse/task_states.h has the rules, lib/analyse/span_tracker.h those for calls; this class
// adds up the times. Time in an unknown state is not counted. In a slice it is not known of a task
// that slept at the cut whether the sleep was uninterruptible: it counts as asleep.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/analyse/analysis.h"
#include "lib/analyse/raised_softirqs.h"
#include "lib/analyse/span_observer.h"
#include "lib/analyse/task_states.h"

namespace fkt {

struct TaskStat {
  struct Waker {
    bool interrupt = false;
    std::uint32_t source = 0;  // TypeIndex of the interrupt, or TaskIndex
    std::uint64_t count = 0;
    std::uint64_t wait = 0;  // ticks from the wake-ups until the task ran
  };
  std::uint64_t running = 0, ready = 0;   // ticks
  std::uint64_t asleep = 0, disk = 0;     // interruptible (S, I, stopped); uninterruptible (D)
  std::uint64_t runs = 0, preempted = 0;  // switches to it; switches away while runnable
  std::uint64_t wakeups = 0;              // that found it asleep
  Spread wait;                            // from a wake-up until it runs (ticks)
  Histogram waits;                        // histogram of wait
  ChildList in;                           // time asleep by call (TaskActivity::Period::call)
  // With TaskActivity::keep_times(): CPU time by the innermost call of the task (kNoType: in none),
  // and that of interrupts meanwhile; both together are the time that it ran.
  ChildList ran_in;
  std::uint64_t interrupts = 0;  // ticks
  std::unordered_map<std::uint64_t, Waker> wakers;
};

class TaskActivity : public SpanObserver {
 public:
  enum class Doing : std::uint8_t { unknown, running, ready, asleep, disk };
  // A period in which a task did one thing.
  struct Period {
    std::uint64_t from = 0, to = 0;  // ticks
    Doing doing = Doing::unknown;
    bool by_interrupt = false;       // asleep: woken by an interrupt, not by a task
    std::uint32_t waker = kNoWaker;  // asleep: the waker's TypeIndex or TaskIndex
    TypeIndex call = kNoType;        // the innermost open call; asleep: or kPageFault
    TaskIndex raiser = kNoTask;      // asleep: the task that raised the softirq that woke it
  };
  // In place of a call: the task slept in no call since its last page fault in user mode.
  static constexpr TypeIndex kPageFault = kNoType - 1;
  using PeriodSink = std::function<void(TaskIndex task, const Period& period)>;
  static constexpr std::uint32_t kNoWaker = ~std::uint32_t{0};  // no waker was seen
  static constexpr std::size_t kMostPeriods = 1 << 21;

  // Counts only the time in the analysis's selection.
  explicit TaskActivity(const Analysis& analysis);

  // Call before the first event: keeps the periods of all tasks, at most kMostPeriods in total.
  void keep_history() { keep_ = true; }
  // Call before the first event: passes each period to `sink` when it ends. A period in which the
  // task runs is not divided by calls.
  void tell(PeriodSink sink) { sink_ = std::move(sink); }
  // Call before the first event: fills in TaskStat::ran_in and interrupts.
  void keep_times() { times_ = true; }
  // The task's periods in time order.
  const std::vector<Period>& history(TaskIndex task) const { return tasks_[task].history; }
  bool history_full() const { return periods_ >= kMostPeriods; }

  // Adds an event; call it for every event in order, after the analysis has applied it.
  void add(const Event& event, TaskIndex running);
  void add(const Event& event, const Analysis::Found& place) { add(event, place.task); }
  // Adds events of one task on one CPU, from `clock` (ticks) on, after the analysis has applied
  // them, instead of calling add(), begin(), end() and charge() for each. None of them is a switch,
  // a wake-up, a page fault, or another event that changes tasks; calls: some begin or end a call
  // of the task.
  void add_burst(std::uint32_t cpu, TaskIndex running, std::uint64_t clock, bool calls);
  // Accounts the time up to `clock`, the end of the recording (ticks).
  void finish(std::uint64_t clock);

  bool takes_bursts() const override { return !keep_ && !times_; }
  void restart(const Checkpoint& checkpoint, const CheckpointMapping& places) override;
  void reopen(OpenSpan& call, const SpanPosition& place) override;
  void begin(OpenSpan& call, const SpanPosition& place) override;
  void end(const OpenSpan& call, Outcome outcome, const SpanPosition& place) override;
  void charge(const OpenSpan* call, std::uint32_t task, CpuState state,
              std::uint64_t ticks) override;

  const std::vector<TaskStat>& stats() const { return stats_; }  // by TaskIndex

 private:
  struct Task {
    Doing doing = Doing::unknown;
    bool faulted = false;     // a page fault in user mode came after its last call
    bool woken = false;       // ready after a wake-up: the wait will be counted
    std::uint64_t since = 0;  // ticks
    std::uint64_t waker = 0;  // key of stat.wakers
    TaskIndex raiser = kNoTask;
    TypeIndex call = kNoType;  // the innermost open call
    std::vector<Period> history;
  };
  struct Change;  // adds up the changes that TaskStates reports

  Task& at(TaskIndex task) {
    if (task >= tasks_.size()) grow(task);
    return tasks_[task];
  }
  void grow(TaskIndex task);
  // Sets all tasks to their states in the checkpoint.
  void restore(const Checkpoint& checkpoint, const CheckpointMapping& places);
  // Accounts the time until `clock` (ticks); from then on the task is `doing` this.
  void change(TaskIndex task, Doing doing, std::uint64_t clock);
  // Looks up the innermost call of the task.
  void reread(TaskIndex task) { at(task).call = analysis_.spans().innermost(task); }
  void reread_all();
  void exec(const Event& event, TaskIndex running);

  void split(TaskIndex task, std::uint64_t clock);
  static Period period_of(const Task& task, std::uint64_t from, std::uint64_t to);

  const Analysis& analysis_;
  const std::uint64_t from_;      // ticks
  std::uint64_t stretch_to_ = 0;  // where the slice's current stretch ends (ticks)
  bool keep_ = false, times_ = false;
  PeriodSink sink_;
  std::size_t periods_ = 0;
  std::vector<TaskStat> stats_;
  std::vector<Task> tasks_;
  TaskStates states_;
  RaisedSoftirqs raised_;
};

// "sys_read", "page fault", "no call": a call as in TaskActivity::Period.
std::string_view call_name(const Analysis& analysis, TypeIndex call);

// A row of the table.
struct TaskRow {
  struct Part {
    std::string name;
    std::uint64_t count = 0, time = 0;
  };
  std::string name;
  std::uint32_t pid = 0;
  TaskStat stat;
  std::uint64_t p50 = 0, p90 = 0, p99 = 0;  // of the waits (ticks), within 1/64
  std::vector<Part> in, wakers;             // by time and by number of wake-ups, highest first
};

// Returns the rows of all tasks but the idle ones of which any time is known; longest running
// first.
std::vector<TaskRow> task_rows(const TaskActivity& states, const Analysis& analysis);

}  // namespace fkt
