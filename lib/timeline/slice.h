// SPDX-License-Identifier: GPL-2.0-only
// Slice: a stretch of time in which a CPU or a task did one thing, as StateTracker reports it
// (lib/timeline/state_tracker.h), and StateObserver, which takes slices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lib/analyse/span_tracker.h"
#include "lib/analyse/span_types.h"
#include "lib/analyse/task_states.h"
#include "lib/analyse/tasks.h"

namespace fkt {

enum class SliceKind : std::uint8_t {
  run,        // on a CPU: a task ran there; value: its TaskIndex
  interrupt,  // on a CPU, nested; value: its TypeIndex
  state,      // of a task; value: TaskState
  call,       // of a task; value: its TypeIndex
  async,      // on no stack, begun by a task; value: its TypeIndex
};

constexpr std::size_t kDeepestSlice = 255;  // what nests deeper has this depth

struct Slice {
  SliceKind kind = SliceKind::run;
  // Its row within the lane. Runs and states: 0; what nests in them: 1 and up. Asynchronous spans:
  // AsyncSpan::row.
  std::uint8_t depth = 0;
  bool begun = true;      // its begin was seen, at `from`
  bool ended = true;      // its end was seen, at `to`
  std::uint32_t cpu = 0;  // CPU where it began; of a state: where the task ran, or ran last
  // The task it belongs to; of an interrupt: the interrupted task; of an asynchronous span: the one
  // that began it.
  TaskIndex task = kNoTask;
  std::uint32_t value = 0;
  TypeIndex in = kNoType;          // state: the system call around it, if one is known
  std::uint64_t from = 0, to = 0;  // ticks
  // Of an interrupt or call whose begin was seen: the time of the event that showed it, which is
  // later than `from` if the begin is late (EventType::late).
  std::uint64_t told = 0;
};

// A call or an interrupt whose begin and end were seen, on its stack.
struct ClosedSpan {
  bool of_cpu;        // an interrupt
  std::size_t depth;  // 1 and up
  TypeIndex type;
  std::uint64_t from, to, told;  // as in Slice
  std::uint32_t cpu;             // where it began

  // Returns its slice. task: it ran on the CPU where it ended.
  Slice slice(TaskIndex task) const {
    return {.kind = of_cpu ? SliceKind::interrupt : SliceKind::call,
            .depth = static_cast<std::uint8_t>(std::min(depth, kDeepestSlice)),
            .cpu = cpu,
            .task = task,
            .value = type,
            .from = from,
            .to = to,
            .told = told};
  }
};

// Slices of one lane and depth, one behind the other, all of calls or all of interrupts.
struct SliceGroup {
  Slice all;  // the longest one, but from the begin of the first one to the end of the last one
  std::uint64_t longest = 0, busy = 0;  // duration of the longest one, of all of them (ticks)
  std::uint32_t count = 0;
};

// Divides time from `from` on into parts that are `width` wide (ticks).
struct Buckets {
  std::uint64_t from = 0, width = 0;
};

// A woken task has got a CPU.
struct Wake {
  TaskIndex waker = kNoTask, task = kNoTask;  // waker: it ran on the CPU of the wake-up
  TypeIndex interrupt = kNoType;              // that was being handled there: what woke it
  std::uint32_t waker_cpu = 0, cpu = 0;
  std::uint64_t woken = 0, runs = 0;  // ticks
};

class StateObserver {
 public:
  virtual ~StateObserver() = default;
  // The slices of one CPU, task or type of asynchronous spans and of one depth come in time order
  // and do not overlap.
  virtual void slice(const Slice& slice) = 0;
  // Called once for a group of slices, instead of slice() for each of them. All slices of a group
  // are shorter than a bucket of buckets(), and begin in the same bucket.
  virtual void slices(const SliceGroup&) {}
  // Returns the buckets for slices(); of width 0: it is never called.
  virtual Buckets buckets() const { return {}; }
  virtual void wake(const Wake&) {}
  // Called after each event was applied, including gaps. running: the task on the event's CPU.
  virtual void event(const Event&, TaskIndex /*running*/, const SpanStep&) {}
  // Returns false when event() does nothing. Then slices may come later than those of other lanes
  // that end after them, by Timeline::longest_burst() at most.
  virtual bool wants_events() const { return true; }
  // Returns true when the observer needs no further slices.
  virtual bool enough() const { return false; }
};

}  // namespace fkt
