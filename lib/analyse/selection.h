// SPDX-License-Identifier: GPL-2.0-only
// Which events a command shows and counts. All events are read and followed whatever is selected,
// so that names and open calls are known where the selection begins.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/analyse/cpu_accounting.h"
#include "lib/analyse/event_filter.h"
#include "lib/analyse/tasks.h"

namespace fkt {

// A process, by its number or that of one of its threads, and all tasks with a name and the threads
// of processes with that name, which may be a number too.
struct TaskChoice {
  std::uint32_t pid = 0;  // 0: by name alone
  std::string name{};     // as typed (is_meant())
};

// What the user asked for.
struct Selection {
  std::optional<std::uint64_t> from{}, to{};  // ticks, from <= clock < to
  std::optional<std::uint32_t> cpu{};
  std::optional<unsigned> layer{};           // bit number
  std::optional<std::uint32_t> stats_pid{};  // statistics only while this process lives
  std::optional<std::uint32_t> dump_pid{};   // dump only while this process lives
  bool dump_only = false;                    // with dump_pid: dump only the process's own events
  std::optional<TaskChoice> own{};           // only what happened while these were running
  std::shared_ptr<const Filter> where{};     // what an expression selects
  std::vector<Interval> parts{};  // only these intervals, ascending and disjoint; empty: everything
  std::string around{};           // name of what `parts` lie around, for the report
};

// Tracks whether a process is alive at the current event.
class Alive {
 public:
  Alive() = default;
  // at_start: alive at the beginning. seen: it was alive at some time before that.
  Alive(std::uint32_t pid, bool at_start, bool seen = false)
      : pid_(pid), watching_(true), now_(at_start), seen_(at_start || seen) {}

  // Call before() before `event` is counted and after() afterwards: the fork that begins the
  // process's life and the switch that ends it belong to it.
  void before(const Event& event);
  void after(const Event& event);

  bool watching() const { return watching_; }
  bool now() const { return !watching_ || now_; }
  bool seen() const { return seen_; }

 private:
  std::uint32_t pid_ = 0;
  bool watching_ = false;
  bool now_ = true;
  bool seen_ = false;
  bool ended_ = false;  // after its end only a fork or a switch begins a new life: a late NMI event
                        // may still name it
};

}  // namespace fkt
