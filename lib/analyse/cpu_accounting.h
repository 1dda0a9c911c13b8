// SPDX-License-Identifier: GPL-2.0-only
// CpuAccounting: what each CPU did at any time, and for which task. Between two events of a CPU its
// state does not change, so that time belongs to the task that the later event names: a switch
// takes effect with the first event of the new task, which ran from the CPU's last event on.
//
// Before a CPU's first event and in gaps the state is unknown, not idle.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "lib/analyse/burst.h"
#include "lib/analyse/last_events.h"
#include "lib/analyse/profile.h"
#include "lib/analyse/running_tasks.h"
#include "lib/analyse/span_tracker.h"
#include "lib/analyse/tasks.h"

namespace fkt {

// A half-open interval of time: from <= clock < to (ticks).
struct Interval {
  std::uint64_t from = 0, to = 0;
};

// The part of the recording that counts in the statistics.
struct Window {
  std::uint64_t from = 0, to = std::numeric_limits<std::uint64_t>::max();  // from <= clock < to
  std::optional<std::uint32_t> cpu;
  std::vector<Interval> parts{};  // only these intervals of it, ascending and disjoint; empty: all
  bool open = true;               // false while the process asked for is not alive
  std::uint64_t open_since = 0;   // ticks

  // Returns how many ticks of [begin, end) on the CPU count.
  std::uint64_t part(std::uint32_t on_cpu, std::uint64_t begin, std::uint64_t end) const {
    if (!open || (cpu && *cpu != on_cpu)) return 0;
    begin = std::max({begin, from, open_since});
    end = std::min(end, to);
    if (end <= begin) return 0;
    return parts.empty() ? end - begin : inside(begin, end);
  }
  // Returns true when the whole time between two events of a CPU counts, false when none of it
  // does, and nothing when a part does. The window must be open and have no parts.
  std::optional<bool> whole(std::uint32_t on_cpu, std::uint64_t first, std::uint64_t last) const {
    if ((cpu && *cpu != on_cpu) || last < from || first >= to) return false;
    return first >= from && last < to ? std::optional(true) : std::nullopt;
  }
  // Returns how many ticks of [begin, end) lie in the parts.
  std::uint64_t inside(std::uint64_t begin, std::uint64_t end) const;
};

class CpuAccounting {
 public:
  // start: the recording's first moment (ticks).
  CpuAccounting(const Tasks& tasks, SpanTracker& spans, const Window& window, std::uint64_t start)
      : tasks_(tasks), spans_(spans), window_(window), start_(start) {}

  // Call before an event is applied: adds the time since the last event of its CPU to `running`,
  // the task that the event names. clock: of the event (ticks).
  void advance(std::uint32_t cpu, std::uint64_t clock, TaskIndex running);
  // As advance() for the events of a burst one after the other, but for the switch at its end, with
  // the spans that they begin and end. Arguments and result as for Analysis::apply().
  bool apply(const BurstAt& at, bool running, SpanTracker::InBurst& spans);
  // Call after a switch was applied; `next` is the task switched to.
  void switched(std::uint32_t cpu, TaskIndex next) {
    CpuRuns& runs = cpus_[cpu].runs;
    runs.switches(runs.named(), next);
  }
  // Events of the CPU are lost from `clock` (ticks) on.
  void begin_gap(std::uint32_t cpu, std::uint64_t clock);
  // The CPU's events are complete again from `clock` (ticks) on, when it runs `running`.
  void end_gap(std::uint32_t cpu, std::uint64_t clock, TaskIndex running);
  // The task's mode is known now: moves the time since it became unknown to `state`.
  void resolve(TaskIndex task, CpuState state);
  // Accounts all time before `clock` (ticks), as far as the tasks that ran are known. Must be
  // called before the window changes.
  void flush(std::uint64_t clock);
  // Accounts the time up to `end` (ticks).
  void finish(std::uint64_t end, const UnknownEnds& unknown);

  // Marks the tasks that run on a CPU, by TaskIndex.
  void used(std::vector<bool>& tasks) const;
  // Writes the CPUs seen; numbers: of the tasks in the checkpoint.
  void save(Checkpoint& checkpoint, const std::vector<std::uint32_t>& numbers) const;
  // Continues from the state in `checkpoint`; the times accounted so far stay. Call it before the
  // first event or after finish().
  void restore(const Checkpoint& checkpoint, const CheckpointMapping& places);

  std::uint32_t cpus() const { return static_cast<std::uint32_t>(cpus_.size()); }
  bool seen(std::uint32_t cpu) const {
    return cpu < cpus_.size() && (cpus_[cpu].seen || cpus_[cpu].counted);
  }
  const CpuStateTimes& cpu(std::uint32_t cpu) const { return cpus_[cpu].times; }
  // The task's times; irq and softirq: the interrupts that interrupted it.
  const CpuStateTimes& task(TaskIndex task) const {
    static const CpuStateTimes kNone{};
    return task < times_.size() ? times_[task].times : kNone;
  }
  // How often the task was switched to, among the selected events.
  std::uint64_t runs(TaskIndex task) const { return task < times_.size() ? times_[task].runs : 0; }

 private:
  struct Cpu {
    bool seen = false;
    bool counted = false;       // seen in an earlier stretch of the slice
    std::uint64_t last = 0;     // time of its last event (ticks)
    std::uint64_t charged = 0;  // its time is accounted up to here (ticks)
    CpuRuns runs;
    CpuStateTimes times{};
  };
  struct TaskTimes {
    CpuStateTimes times{};
    std::uint64_t runs = 0;
    // CPU and ticks accounted to CpuState::running while the mode is not known.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> pending;
  };
  TaskTimes& times(TaskIndex task) {
    if (task >= times_.size()) times_.resize(task + 1);
    return times_[task];
  }
  // Adds ticks in which the CPU and the task were in this state.
  static void book(std::uint32_t number, Cpu& cpu, TaskTimes& task, CpuState state,
                   std::uint64_t ticks) {
    if (ticks == 0) return;
    cpu.times[static_cast<std::size_t>(state)] += ticks;
    if (state == CpuState::others) return;  // a filter hides the task
    task.times[static_cast<std::size_t>(state)] += ticks;
    if (state != CpuState::running) return;
    if (task.pending.empty() || task.pending.back().first != number) {
      task.pending.push_back({number, 0});
    }
    task.pending.back().second += ticks;
  }
  // Adds the time to the innermost span and to the task it ran in; `selected` of the ticks count.
  void give(std::uint32_t number, Cpu& cpu, TaskIndex task, std::uint64_t ticks,
            std::uint64_t selected);

  Cpu& at(std::uint32_t cpu) {
    if (cpu >= cpus_.size()) cpus_.resize(cpu + 1);
    return cpus_[cpu];
  }
  void charge(std::uint32_t number, Cpu& cpu, TaskIndex task, std::uint64_t until);
  void spend(const BurstAt& at, const Burst::Part& part, std::uint64_t calls, std::uint64_t until,
             Cpu& cpu, TaskTimes& task, SpanTracker::InBurst& spans);
  void charge_current(std::uint32_t number, Cpu& cpu, std::uint64_t until);
  void charge_unknown(std::uint32_t number, Cpu& cpu, std::uint64_t until, CpuState state);

  const Tasks& tasks_;
  SpanTracker& spans_;
  const Window& window_;
  std::uint64_t start_;
  std::vector<Cpu> cpus_;
  std::vector<TaskTimes> times_;
};

}  // namespace fkt
