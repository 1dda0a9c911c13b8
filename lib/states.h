// SPDX-License-Identifier: GPL-2.0-only
// States: what each CPU was doing at any time, and for whom. Between two events of a CPU nothing
// changed there, so the stretch between them belongs to the task that the later one names: a
// switch counts from the first event of the new task, and its time resumes at the last event on
// that CPU (2005 report, section 6).
//
// Before a CPU's first event and inside a gap the state is unknown, not zero.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "lib/profile.h"
#include "lib/spans.h"
#include "lib/tasks.h"

namespace fkt {

// A stretch of time: from <= clock < to (ticks).
struct Interval {
  std::uint64_t from = 0, to = 0;
};

// The part of the time that counts in the statistics.
struct Window {
  std::uint64_t from = 0, to = std::numeric_limits<std::uint64_t>::max();  // from <= clock < to
  std::optional<std::uint32_t> cpu;
  std::vector<Interval> parts{};  // only these of it, ascending and apart; empty: all
  bool open = true;               // closed while the process asked for is not alive
  std::uint64_t open_since = 0;   // ticks

  // How many ticks of [begin, end) on `cpu` count.
  std::uint64_t part(std::uint32_t on_cpu, std::uint64_t begin, std::uint64_t end) const {
    if (!open || (cpu && *cpu != on_cpu)) return 0;
    begin = std::max({begin, from, open_since});
    end = std::min(end, to);
    if (end <= begin) return 0;
    return parts.empty() ? end - begin : inside(begin, end);
  }
  // Does all between two events of a CPU count, or nothing? Nothing said: only a part of it.
  // Precondition: it is open, and has no parts.
  std::optional<bool> whole(std::uint32_t on_cpu, std::uint64_t first, std::uint64_t last) const {
    if ((cpu && *cpu != on_cpu) || last < from || first >= to) return false;
    return first >= from && last < to ? std::optional(true) : std::nullopt;
  }
  // How many ticks of [begin, end) are in the parts.
  std::uint64_t inside(std::uint64_t begin, std::uint64_t end) const;
};

class States {
 public:
  // start: the recording's first moment (ticks).
  States(const Tasks& tasks, Spans& spans, const Window& window, std::uint64_t start)
      : tasks_(tasks), spans_(spans), window_(window), start_(start) {}

  // Before an event is applied: gives the time since the last one on its CPU to `running`, the
  // task it names. clock: the event's (ticks).
  void advance(std::uint32_t cpu, std::uint64_t clock, TaskIndex running);
  // After it: a switch names the next task.
  void switched(std::uint32_t cpu, TaskIndex next) { cpus_[cpu].next = next; }
  // Events of the CPU are lost from `clock` on.
  void begin_gap(std::uint32_t cpu, std::uint64_t clock);
  // ... until `clock`, where `running` runs.
  void end_gap(std::uint32_t cpu, std::uint64_t clock, TaskIndex running);
  // Where the task has been since its mode was unknown is now known.
  void resolve(TaskIndex task, State state);
  // All time before `clock` is given away, as far as what ran then is known by now. Needed before
  // the window changes.
  void flush(std::uint64_t clock);
  // The end: CPUs in `unknown_from` (by number) know nothing of the time from that moment on.
  void finish(std::uint64_t end,
              const std::vector<std::pair<std::uint32_t, std::uint64_t>>& unknown_from);

  // Marks the tasks that CPUs run.
  void used(std::vector<bool>& tasks) const;
  // By TaskIndex: does another CPU than this one run the task, and is that seen?
  std::vector<bool> running_elsewhere(std::uint32_t cpu) const;
  // Writes the CPUs seen, their tasks as numbered in the cut.
  void save(Cut& cut, const std::vector<std::uint32_t>& numbers) const;
  // Goes on from there: before any event, or after finish(). What was counted stays.
  void restore(const Cut& cut, const CutPlaces& places);

  std::uint32_t cpus() const { return static_cast<std::uint32_t>(cpus_.size()); }
  bool seen(std::uint32_t cpu) const {
    return cpu < cpus_.size() && (cpus_[cpu].seen || cpus_[cpu].counted);
  }
  const StateTimes& cpu(std::uint32_t cpu) const { return cpus_[cpu].times; }
  // irq and softirq: those that interrupted the task.
  const StateTimes& task(TaskIndex task) const {
    static const StateTimes kNone{};
    return task < times_.size() ? times_[task].times : kNone;
  }
  // How often it was switched to (selected events).
  std::uint64_t runs(TaskIndex task) const { return task < times_.size() ? times_[task].runs : 0; }

 private:
  friend class BurstTaker;  // does the same for many events
  struct Cpu {
    bool seen = false;
    bool counted = false;       // it was seen in a stretch before this one
    bool in_gap = false;        // what it does is not known, nor which task it runs
    std::uint64_t last = 0;     // its last event
    std::uint64_t charged = 0;  // up to here its time is given away
    TaskIndex current = kNoTask;
    TaskIndex next = kNoTask;  // switched to, but no event of it yet
    StateTimes times{};
  };
  struct TaskTimes {
    StateTimes times{};
    std::uint64_t runs = 0;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> pending;  // cpu, ticks: mode unknown
  };

  Cpu& at(std::uint32_t cpu) {
    if (cpu >= cpus_.size()) cpus_.resize(cpu + 1);
    return cpus_[cpu];
  }
  TaskTimes& times(TaskIndex task) {
    if (task >= times_.size()) times_.resize(task + 1);
    return times_[task];
  }
  void charge(std::uint32_t number, Cpu& cpu, TaskIndex task, std::uint64_t until);
  void give(std::uint32_t number, Cpu& cpu, TaskIndex task, std::uint64_t ticks,
            std::uint64_t selected);
  void charge_current(std::uint32_t number, Cpu& cpu, std::uint64_t until);
  void charge_unknown(std::uint32_t number, Cpu& cpu, std::uint64_t until, State state);

  const Tasks& tasks_;
  Spans& spans_;
  const Window& window_;
  std::uint64_t start_;
  std::vector<Cpu> cpus_;
  std::vector<TaskTimes> times_;
};

}  // namespace fkt
