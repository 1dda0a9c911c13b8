// SPDX-License-Identifier: GPL-2.0-only
// StateTracker: tracks what each CPU and each task is doing, event by event, and reports it as
// slices of time: which task ran on a CPU and what interrupted it; when a task ran, waited for a
// CPU or slept; its system calls; and which task woke it.
//
// The whole state is a value: with a copy of it the recording can be followed from that moment on,
// without the events before it (lib/timeline/timeline.h).
#pragma once

#include <cstdint>
#include <vector>

#include "lib/analyse/meanings.h"
#include "lib/analyse/span_stacks.h"
#include "lib/analyse/span_tracker.h"
#include "lib/analyse/tasks.h"
#include "lib/analyse/who_runs.h"

namespace fkt {

enum class TaskState : std::uint8_t { unknown, running, ready, blocked };

enum class SliceKind : std::uint8_t {
  run,        // on a CPU: a task ran there; value: its TaskIndex
  interrupt,  // on a CPU, nested; value: its TypeIndex
  state,      // of a task; value: TaskState
  call,       // of a task; value: its TypeIndex
};

struct Slice {
  SliceKind kind = SliceKind::run;
  // Within its lane: 0 for runs and states, 1 and up for what nests in them.
  std::uint8_t depth = 0;
  bool begun = true;         // its begin was seen, at `from`
  bool ended = true;         // its end was seen, at `to`
  std::uint32_t cpu = 0;     // CPU where it ran, or ran last
  TaskIndex task = kNoTask;  // the task it belongs to; of an interrupt: the interrupted task
  std::uint32_t value = 0;
  TypeIndex in = kNoType;          // state: the system call around it, if one is known
  std::uint64_t from = 0, to = 0;  // ticks
};

// A woken task has got a CPU.
struct Wake {
  TaskIndex waker = kNoTask, task = kNoTask;
  std::uint32_t waker_cpu = 0, cpu = 0;
  std::uint64_t woken = 0, runs = 0;  // ticks
};

class StateObserver {
 public:
  virtual ~StateObserver() = default;
  // The slices of one CPU or task and of one depth come in time order and do not overlap.
  virtual void slice(const Slice& slice) = 0;
  virtual void wake(const Wake&) {}
  // Called after each event was applied, including gaps. running: the task on the event's CPU.
  virtual void event(const Event&, TaskIndex /*running*/, const Step&) {}
  // Returns true when the observer needs no further slices.
  virtual bool enough() const { return false; }
};

class StateTracker {
 public:
  // Copies share `info`, `meanings` and `types`, which must outlive all of them. A slice is
  // followed from the state at its checkpoint.
  StateTracker(const TraceInfo& info, const Meanings& meanings, SpanTypes& types);

  // Applies the next event and reports the slices that end with it; `observer` may be nullptr.
  void apply(const Event& event, StateObserver* observer);
  // Continues with the next stretch of a slice, in the state at its checkpoint. Not allowed for a
  // StateTracker from at().
  void restart(const Checkpoint& checkpoint);
  // Reports everything that is open at `clock` (ticks), as slices whose end was not seen.
  void finish(std::uint64_t clock, StateObserver& observer) const;

  const Tasks& tasks() const { return tasks_; }

  // The state at one moment, in compact form.
  class Saved;
  Saved save() const;
  // Returns a StateTracker in the state `saved`, which must be an earlier state of this one. Its
  // tasks have numbers but no names.
  StateTracker at(const Saved& saved) const;

 private:
  struct Open {
    TypeIndex type = kNoType;
    SpanKind kind{};
    std::uint64_t match = 0, begin = 0;
    void reset() {}
    void reopened(bool) {}
  };
  // What is kept of spans, tasks and CPUs.
  struct Kept {
    using Span = Open;
    struct Task {
      TaskState state = TaskState::unknown;
      bool begun = false;       // the begin of the state was seen, at `since`
      bool before_cut = false;  // the state began before the slice
      std::uint32_t cpu = 0, waker_cpu = 0;
      TaskIndex waker = kNoTask;  // of a ready task that slept: the task that woke it
      std::uint64_t since = 0;
    };
    struct Cpu {
      TaskIndex running = kNoTask;  // the task of the open run slice; kNoTask: there is none
      bool begun = false;
      std::uint64_t since = 0;
    };
  };
  using Stacks = SpanStacks<Kept>;
  using Stack = Stacks::Stack;
  using TaskNow = Stacks::Task;
  using CpuNow = Stacks::Cpu;
  struct Change;  // reports what ends when spans are dropped

  void restore(const Checkpoint& checkpoint, const CheckpointMapping& places);
  CpuNow& cpu(std::uint32_t number) { return stacks_.cpu(number); }
  TaskNow& task(TaskIndex index) { return stacks_.task(index); }
  // Returns the type of the task's outermost call in the kernel.
  static TypeIndex outermost(const TaskNow& task) {
    const Open* const call = task.stack.outermost_call();
    return call != nullptr ? call->type : kNoType;
  }
  Step point(const Event& event, TaskIndex running, StateObserver* observer);
  Step begin(const Event& event, const Meaning& meaning, TaskIndex running,
             StateObserver* observer);
  Step end(const Event& event, const Meaning& meaning, TaskIndex running, StateObserver* observer);
  void run(std::uint32_t number, TaskIndex next, std::uint64_t clock, bool begun,
           StateObserver* observer);
  void set_state(TaskIndex index, TaskState state, std::uint64_t clock, bool begun,
                 StateObserver* observer);
  void switched(const Event& event, TaskIndex running, StateObserver* observer);
  void woken(const Event& event, TaskIndex running, StateObserver* observer);
  void drop_interrupts(std::uint32_t number, std::uint64_t clock, StateObserver* observer);
  void begin_gap(const Event& event, StateObserver* observer);

  StateTracker(const Meanings* meanings, SpanTypes* types, Tasks tasks, WhoRuns who_runs)
      : meanings_(meanings),
        types_(types),
        tasks_(std::move(tasks)),
        who_runs_(std::move(who_runs)) {}

  const Meanings* meanings_;
  SpanTypes* types_;
  Tasks tasks_;
  WhoRuns who_runs_;
  Stacks stacks_;
  std::uint64_t cut_from_ = 0;  // begin of the slice (ticks)
};

class StateTracker::Saved {
 public:
  std::size_t bytes() const;

 private:
  friend class StateTracker;
  explicit Saved(const WhoRuns& who_runs) : who_runs_(who_runs) {}
  TaskIndex count_ = 0;
  std::vector<Tasks::Number> numbers_;
  WhoRuns who_runs_;
  std::vector<CpuNow> cpus_;
  std::vector<std::pair<TaskIndex, TaskNow>> states_;  // only tasks of which something is known
};

}  // namespace fkt
