// SPDX-License-Identifier: GPL-2.0-only
// Each run of a task on a CPU: when, how long, how long the task had been off the CPU before, how
// long it waited for one after it was woken, and what woke it (fkt_print --sched).
//
//   TaskRuns runs(analysis, [&](const TaskRuns::Run& run) { ... });
//   analysis.watch(runs);
//   for (const Event& event : recording.events()) runs.add(event, analysis.add(event));
//   analysis.finish(true, recording_end(recording));
//   runs.finish(analysis.end());
//
// lib/analyse/task_states.h has the rules. Runs of idle tasks are left out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/analyse/analysis.h"
#include "lib/analyse/span_observer.h"
#include "lib/analyse/task_states.h"

namespace fkt {

class TaskRuns : public SpanObserver {
 public:
  struct Run {
    TaskIndex task = kNoTask;
    std::uint32_t cpu = 0;
    std::uint64_t from = 0, to = 0;  // ticks
    bool begun = false;              // the switch to it was seen, at `from`
    std::uint16_t left = 0;          // id of the switch by which it left, at `to`; 0: not seen
    // waited: time off the CPU before `from`; delay: time from the wake-up to `from` (ticks).
    std::optional<std::uint64_t> waited, delay;
    std::string name, waker;  // the task's at `to`, the waker's at the wake-up; "": unknown
  };
  using Sink = std::function<void(const Run& run)>;

  // sink: gets the runs in the order in which they end. analysis: tells this observer where a
  // slice's stretches begin; it outlives this object.
  TaskRuns(const Analysis& analysis, Sink sink);

  // Adds an event; call it for every event in order, after the analysis has applied it. Shown are
  // the runs that an event of the selection ends, and those that a gap or the recording's end cuts
  // off, unless the selection is one of events or of a process.
  void add(const Event& event, const Analysis::Found& place);
  // Shows the runs that are not over at `clock`, the end of the recording (ticks).
  void finish(std::uint64_t clock);

  void restart(const Checkpoint& checkpoint, const CheckpointMapping& places) override;
  void begin(OpenSpan&, const SpanPosition&) override {}
  void end(const OpenSpan&, Outcome, const SpanPosition&) override {}
  void charge(const OpenSpan*, std::uint32_t, CpuState, std::uint64_t) override {}

 private:
  // A task that is off the CPUs.
  struct Off {
    std::uint64_t since = 0;  // ticks; 0: not known
    std::string waker;
  };
  struct Change;  // gets the changes that TaskStates reports

  void restore(const Checkpoint& checkpoint, const CheckpointMapping& places);
  Off& off(TaskIndex task);
  bool shows_cut(std::uint32_t cpu) const;
  void show(Run& run, std::uint64_t clock, std::uint16_t left);

  const Analysis& analysis_;
  const Sink sink_;
  TaskStates states_;
  std::uint64_t stretch_to_ = 0;  // where the slice's current stretch ends (ticks)
  std::vector<Run> on_;           // by CPU; task: kNoTask if it is not known what runs
  std::vector<Off> tasks_;        // by TaskIndex
};

}  // namespace fkt
