// SPDX-License-Identifier: GPL-2.0-only
// What each task was doing: running, ready (waiting for a CPU), asleep, and in which call; who woke
// it, and how long it then waited for a CPU.
//
// A task runs from the switch that names it to the switch by which it leaves; it is ready from its
// wake-up, or from a switch that leaves it runnable. What it did before its first event, and in and
// behind a gap, is not known and is nobody's time. A slice's cut says who ran, who had lost its CPU
// and who slept, so there it is known from the first moment on; not how deep the sleep was
// (asleep), nor who had been woken already (ready, if it runs without being woken).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/analysis.h"
#include "lib/call_sink.h"
#include "lib/time_format.h"
#include "lib/who_runs.h"
#include "lib/writer.h"

namespace fkt {

struct TaskStat {
  struct Waker {
    bool interrupt = false;
    std::uint32_t who = 0;  // TypeIndex of an interrupt, or TaskIndex
    std::uint64_t count = 0;
    std::uint64_t wait = 0;  // ticks until the task then ran
  };
  std::uint64_t running = 0, ready = 0;   // ticks
  std::uint64_t asleep = 0, disk = 0;     // interruptible (S, I, stopped); not (D)
  std::uint64_t runs = 0, preempted = 0;  // switches to it; away while runnable
  std::uint64_t wakeups = 0;              // that it was asleep for
  Spread wait;                            // from wake-up to its run, one by one
  Histogram waits;                        // the same
  std::vector<Child> in;                  // asleep in which call (kNoType: in none)
  std::unordered_map<std::uint64_t, Waker> wakers;
};

class TaskStates : public CallSink {
 public:
  enum class Doing : std::uint8_t { unknown, running, ready, asleep, disk, dead };
  // A task doing one thing.
  struct Stretch {
    std::uint64_t from = 0, to = 0;  // ticks
    Doing doing = Doing::unknown;
    bool by_interrupt = false;      // asleep: what woke it, a task or an interrupt ...
    std::uint32_t waker = kNobody;  // ... its TaskIndex or TypeIndex
    TypeIndex call = kNoType;       // in which call
  };
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};  // nothing that was seen
  static constexpr std::size_t kMostStretches = 1 << 21;

  // Only what lies in the analysis's view counts.
  explicit TaskStates(const Analysis& analysis);

  // Before the first event: keeps every task's stretches, up to kMostStretches of all together.
  void keep_history() { keep_ = true; }
  // Of a task, in time order.
  const std::vector<Stretch>& history(TaskIndex task) const { return tasks_[task].history; }
  bool history_full() const { return stretches_ >= kMostStretches; }

  // Every event in order, after the analysis has it.
  void add(const Event& event, const Analysis::Place& place);
  // The end: `clock` is the recording's last moment (ticks).
  void finish(std::uint64_t clock);

  void restart(const Cut& cut, const CutPlaces& places) override;
  void reopen(OpenSpan& call, const CallPlace& place) override;
  void begin(OpenSpan& call, const CallPlace& place) override;
  void end(const OpenSpan& call, Outcome outcome, const CallPlace& place) override;
  void charge(const OpenSpan*, std::uint32_t, State, std::uint64_t) override {}

  const std::vector<TaskStat>& stats() const { return stats_; }  // by TaskIndex

 private:
  struct Task {
    Doing doing = Doing::unknown;
    bool woken = false;              // ready after a wake-up: the wait is to be noted
    bool before_cut = false;         // asleep as the cut says: it may have been woken by then
    std::uint64_t since = 0;         // ticks
    std::uint64_t waker = 0;         // key of stat.wakers
    std::vector<TypeIndex> calls;    // open ones
    TaskIndex went_on_as = kNoTask;  // with execve: there its calls end
    std::vector<Stretch> history;
  };

  Task& at(TaskIndex task);
  // All stand as the cut says.
  void restore(const Cut& cut, const CutPlaces& places);
  // Puts a call on its stack.
  void push(OpenSpan& call, const CallPlace& place);
  // The task does something else from `clock` on.
  void change(TaskIndex task, Doing doing, std::uint64_t clock);
  void leave(const Event& event, TaskIndex task);
  void run(TaskIndex task, std::uint64_t clock);
  void wake(const Event& event, TaskIndex waker);
  void begin_gap(const Event& event);
  void exec(const Event& event, TaskIndex running);
  void forget(const Event& event);

  void split(TaskIndex task, std::uint64_t clock);
  void remember(Task& task, std::uint64_t from, std::uint64_t to);

  const Analysis& analysis_;
  const std::uint64_t from_;      // ticks
  std::uint64_t stretch_to_ = 0;  // of a slice: where the stretch ends
  bool keep_ = false;
  std::size_t stretches_ = 0;
  std::vector<TaskStat> stats_;
  std::vector<Task> tasks_;
  WhoRuns who_runs_;
  std::vector<std::vector<TypeIndex>> interrupts_;  // open ones of each CPU
};

// A line of the table.
struct TaskRow {
  struct Part {
    std::string name;
    std::uint64_t count = 0, time = 0;
  };
  std::string name;
  std::uint32_t pid = 0;
  TaskStat stat;
  std::uint64_t p50 = 0, p90 = 0, p99 = 0;  // of the waits, within 1/64
  std::vector<Part> in, wakers;             // most time, most wake-ups first
};

// Tasks of which anything is known, but for the idle ones; most time running first.
std::vector<TaskRow> task_rows(const TaskStates& states, const Analysis& analysis);

// long_form: with the calls they slept in, and who woke them.
void write_tasks(Writer& out, const std::vector<TaskRow>& rows, bool long_form,
                 const TimeFormat& time);
// {"unit": ..., "tasks": [...]}
void write_tasks_json(Writer& out, const std::vector<TaskRow>& rows, const TimeFormat& time);
void write_tasks_csv(Writer& out, const std::vector<TaskRow>& rows, const TimeFormat& time);

}  // namespace fkt
