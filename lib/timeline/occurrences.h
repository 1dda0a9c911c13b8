// SPDX-License-Identifier: GPL-2.0-only
// Statistics of a part of a recording by name: how often each call and interrupt occurred, how long
// it took, its histogram and its slowest occurrences; and the search for the next occurrence of a
// name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/analyse/profile.h"
#include "lib/timeline/follow.h"
#include "lib/timeline/timeline.h"

namespace fkt {

// One occurrence: a call or an interrupt with its duration, or an event (from == to).
struct Occurrence {
  std::uint64_t from = 0, to = 0;  // ticks
  std::uint32_t cpu = 0;
  TaskIndex task = kNoTask;
  TypeIndex type = kNoType;  // type of the call or interrupt; kNoType for an event
  std::uint16_t event = 0;   // the event's id; 0 for a call or interrupt
  std::uint64_t length() const { return to - from; }
};

// The span types and event ids that a name stands for. "sys_*" and "irq*" stand for all names with
// that prefix.
class NameMatch {
 public:
  NameMatch(std::string_view name, const SpanTypes& types, const Catalogue& catalogue);
  bool any() const { return any_; }
  bool type(TypeIndex type) const { return type < types_.size() && types_[type]; }
  bool event(std::uint16_t id) const { return events_[id & FKT_ID_MASK]; }

 private:
  std::vector<bool> types_, events_;
  bool any_ = false;
};

// Returns all names that NameMatch accepts, sorted: calls and interrupts that occur, and events.
std::vector<std::string> searchable_names(const SpanTypes& types, const Catalogue& catalogue);

// Returns the first match that begins at or after `from` (ticks), or nothing when there is none.
// The search is abandoned when `unwanted` returns true.
std::optional<Occurrence> next_occurrence(const Timeline& timeline, const NameMatch& match,
                                          std::uint64_t from, const Unwanted& unwanted = {});

// Returns the longest matches that began and ended in [from, to), longest first; at most `most`.
// `at_least`, `below`: only those with at_least <= duration < below (ticks).
std::vector<Occurrence> slowest_occurrences(const Timeline& timeline, const NameMatch& match,
                                            std::uint64_t from, std::uint64_t to, std::size_t most,
                                            std::uint64_t at_least = 0,
                                            std::uint64_t below = ~std::uint64_t{0},
                                            const Unwanted& unwanted = {});

// Statistics of [from, to) (ticks): calls and interrupts that began and ended in it, events,
// states. They equal the figures of an Analysis whose Selection is that part
// (lib/analyse/analysis.h).
class WindowStats : public FollowSink {
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

  WindowStats(std::uint64_t from, std::uint64_t to, const Tasks& tasks)
      : from_(from), to_(to), tasks_(tasks) {}

  void slice(const Slice& slice) override;
  void event(const Event& event, TaskIndex running, const Step& step) override;

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
