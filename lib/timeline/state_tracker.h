// SPDX-License-Identifier: GPL-2.0-only
// StateTracker: tracks what each CPU and each task is doing, event by event, and reports it as
// slices of time: which task ran on a CPU and what interrupted it; when a task ran, waited for a
// CPU or slept; its system calls; and which task woke it.
//
// The whole state is a value: with a copy of it the recording can be followed from that moment on,
// without the events before it (lib/timeline/timeline.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/analyse/async_spans.h"
#include "lib/analyse/last_events.h"
#include "lib/analyse/meanings.h"
#include "lib/analyse/span_stacks.h"
#include "lib/analyse/span_tracker.h"
#include "lib/analyse/task_states.h"
#include "lib/analyse/tasks.h"
#include "lib/timeline/burst_merge.h"
#include "lib/timeline/slice.h"
#include "lib/timeline/slice_groups.h"

namespace fkt {

class StateTracker {
 public:
  // Copies share `info`, `meanings` and `types`, which must outlive all of them. A slice is
  // followed from the state at its checkpoint.
  StateTracker(const RecordingInfo& info, const Meanings& meanings, SpanTypes& types);

  // Applies the next event and reports the slices that end with it; `observer` may be nullptr.
  void apply(const Event& event, StateObserver* observer);
  // Applies the next event or burst of `merge`; of a burst it moves on to the last event. The
  // observer of `groups` must not want events.
  void apply_next(BurstMerge& merge, SliceGroups& groups);
  // Continues with the next stretch of a slice, in the state at its checkpoint. Not allowed for a
  // StateTracker from at().
  void restart(const Checkpoint& checkpoint);
  // Reports everything that is open at `clock` (ticks), as slices whose end was not seen. Slices on
  // a CPU of `unknown` end where its state becomes unknown.
  void finish(std::uint64_t clock, const UnknownEnds& unknown, StateObserver& observer) const;

  const Tasks& tasks() const { return tasks_; }

  // The state at one moment, in compact form.
  class Saved;
  Saved save() const;
  // Returns a StateTracker in the state `saved`, which must be an earlier state of this one. Its
  // tasks have numbers but no names.
  StateTracker at(const Saved& saved) const;

 private:
  static constexpr std::uint32_t kNoCpu = ~std::uint32_t{0};  // it was open at a slice's begin
  struct Open {
    TypeIndex type = kNoType;
    SpanKind kind{};
    std::uint64_t match = 0, begin = 0;
    std::uint64_t told = 0;      // as Slice::told
    std::uint32_t cpu = kNoCpu;  // where it began
    void reset() {}
    void reopened(bool) {
      told = begin;
      cpu = kNoCpu;
    }
  };
  // What is kept of spans, tasks and CPUs.
  struct Kept {
    using Span = Open;
    struct Task {};
    struct Cpu {
      TaskIndex running = kNoTask;  // the task of the open run slice; kNoTask: there is none
      bool begun = false;
      std::uint64_t since = 0;
    };
  };
  using Stacks = SpanStacks<Kept>;
  using Stack = Stacks::Stack;
  using CpuNow = Stacks::Cpu;
  struct Change;  // reports the changes of the rules as slices

  void restore(const Checkpoint& checkpoint, const CheckpointMapping& places);
  CpuNow& cpu(std::uint32_t number) { return stacks_.cpu(number); }
  // Returns the type of the task's outermost call in the kernel.
  TypeIndex outermost(TaskIndex index) const {
    if (index >= stacks_.tasks().size()) return kNoType;
    const Open* const call = stacks_.tasks()[index].stack.outermost_call();
    return call != nullptr ? call->type : kNoType;
  }
  // The number of tasks of which something may be known.
  TaskIndex known() const {
    return static_cast<TaskIndex>(std::max(states_.tasks().size(), stacks_.tasks().size()));
  }
  TaskStates::Now state(TaskIndex index) const {
    return index < states_.tasks().size() ? states_.tasks()[index] : TaskStates::Now{};
  }
  Slice state_slice(TaskIndex index, const TaskStates::Now& now, std::uint64_t to,
                    bool ended) const;
  // `step` is filled in its place: right after its parts were written, store forwarding fails for a
  // copy of several at once.
  void point(const Event& event, TaskIndex running, Change& change, SpanStep& step);
  void begin(const Event& event, const Meaning& meaning, const Stacks::Position& place,
             Change& change);
  // cpu: where it ended.
  static ClosedSpan ended_span(const Stacks::Ended& ended, const Stacks::Position& place,
                               std::uint32_t cpu);
  bool is_plain(const PageDecoder::WholePair& pair, const Stack& stack, std::uint64_t number) const;
  void pair(const PageDecoder::WholePair& pair, const Event& at, const Stacks::Position& place,
            SliceGroups& groups);
  void pair_apart(const PageDecoder::WholePair& pair, const Event& at,
                  const Stacks::Position& place, SliceGroups& groups);
  void nested(const Event& event, const Stacks::Position& place, SliceGroups& groups);
  void begin_gap(const Event& event, Change& change);
  void drop_asyncs(std::uint64_t clock, StateObserver* observer);
  void show(const std::vector<AsyncSpans::Ended>& ended, std::uint64_t clock,
            StateObserver* observer) const;

  StateTracker(const Meanings* meanings, SpanTypes* types, Tasks tasks, TaskStates states,
               AsyncSpans asyncs)
      : meanings_(meanings),
        types_(types),
        tasks_(std::move(tasks)),
        states_(std::move(states)),
        asyncs_(std::move(asyncs)) {}

  const Meanings* meanings_;
  SpanTypes* types_;
  Tasks tasks_;
  TaskStates states_;
  Stacks stacks_;
  AsyncSpans asyncs_;
};

class StateTracker::Saved {
 public:
  std::size_t bytes() const;

 private:
  friend class StateTracker;
  Saved(TaskStates states, AsyncSpans asyncs)
      : states_(std::move(states)), asyncs_(std::move(asyncs)) {}
  struct Task {
    TaskIndex index = kNoTask;
    TaskStates::Now now;
    Stack stack;
  };
  TaskIndex count_ = 0;
  std::vector<Tasks::Number> numbers_;
  TaskStates states_;  // without tasks
  AsyncSpans asyncs_;
  std::vector<CpuNow> cpus_;
  std::vector<Task> tasks_;  // only those of which something is known
};

}  // namespace fkt
