// SPDX-License-Identifier: GPL-2.0-only
// Statistics of a part of a recording: how often each call and interrupt occurred and how long it
// took, what each task waited for, and what each CPU did.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "lib/analyse/analysis.h"
#include "lib/analyse/profile.h"
#include "lib/timeline/slice.h"

namespace fkt {

// Statistics of [from, to) (ticks): calls and interrupts that began and ended in it, events,
// states. They equal the figures of an Analysis whose Selection is that part
// (lib/analyse/analysis.h).
class WindowStats final : public StateObserver {
 public:
  struct OfTask {
    std::array<std::uint64_t, 4> states{};      // ticks in the window, by TaskState
    std::uint64_t waits = 0, longest_wait = 0;  // of the ready states that ended in the window
  };
  // Each tick of the window is in exactly one of these. An interrupt's time is in `interrupts`
  // whatever it interrupted, so `idle` excludes interrupts, as CpuState::idle does.
  struct OfCpu {
    std::uint64_t busy = 0, idle = 0, interrupts = 0;  // ticks
    std::uint64_t unknown = 0;  // in gaps, before the CPU's first event, tasks not recorded
  };

  // tasks: of the recording; must outlive this object.
  WindowStats(std::uint64_t from, std::uint64_t to, const Tasks& tasks)
      : from_(from), to_(to), tasks_(tasks) {}

  void slice(const Slice& slice) override;
  // Adds a slice of SliceKind::state, as slice() does. AnySlice is Slice or PackedSlice.
  template <class AnySlice>
  void add_state(const AnySlice& slice) {
    const std::uint64_t from = std::max(slice.from, from_), to = std::min(slice.to, to_);
    if (to < from) return;
    if (slice.task >= by_task_.size()) by_task_.resize(slice.task + 1);
    OfTask& task = by_task_[slice.task];
    task.states[slice.value & 3] += to - from;
    const bool waited = slice.value == static_cast<std::uint32_t>(TaskState::ready);
    if (!waited || !slice.begun || !slice.ended) return;
    task.waits++;
    task.longest_wait = std::max(task.longest_wait, slice.to - slice.from);
  }
  void event(const Event& event, TaskIndex running, const SpanStep& step) override;
  // Takes events, types, CPUs and how long each task ran from the analysis, which must have been
  // finished and whose selection is the window; moves the histograms out of it. Types and tasks are
  // under the analysis's indexes; of a task nothing but TaskState::running is known.
  void take(Analysis& analysis);

  std::uint64_t events() const { return events_; }
  // By TypeIndex; only total and times are filled in.
  const std::vector<SpanStats>& types() const { return types_; }
  const std::vector<OfTask>& tasks() const { return by_task_; }
  // By CPU number. The whole window is unknown for a CPU without events in it.
  std::vector<OfCpu> cpus() const;

 private:
  void add_duration(TypeIndex type, std::uint64_t ticks);

  std::uint64_t from_, to_;
  const Tasks& tasks_;
  std::uint64_t events_ = 0;
  std::vector<SpanStats> types_;
  std::vector<OfTask> by_task_;
  std::vector<OfCpu> cpus_;
};

}  // namespace fkt
