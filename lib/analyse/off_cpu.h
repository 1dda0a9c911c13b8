// SPDX-License-Identifier: GPL-2.0-only
// Sums the time that tasks were off the CPU, by task, open calls, kind of wait (asleep, the disk, a
// CPU) and waker.
//
//   TaskActivity states(analysis);
//   OffCpu waits(analysis);
//   states.tell([&](TaskIndex task, const TaskActivity::Period& s) { waits.add(task, s); });
//   analysis.watch(states);
//   ... each event: states.add(event, analysis.add(event)); at the end: states.finish(end)
//   for (const OffCpu::Row& row : waits.rows()) ...
//
// The times are those of TaskActivity: all rows of a task are what it was asleep and ready.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lib/analyse/task_activity.h"

namespace fkt {

class OffCpu {
 public:
  struct Row {
    std::string task;                // its name and number; names are not escaped
    std::vector<std::string> calls;  // the outermost first; "page fault"; empty: in no call
    std::string_view wait;           // "asleep", "disk" or "cpu"
    std::string waker;               // empty: it got a CPU, or no wake-up was seen
    Spread ticks;
  };

  // analysis: outlives this object.
  explicit OffCpu(const Analysis& analysis) : analysis_(analysis) {}

  // Adds what a task did; call it when that ends, while the task's calls are as they were.
  void add(TaskIndex task, const TaskActivity::Period& period);
  // Most time first. Tasks that the selection leaves out have no rows.
  std::vector<Row> rows() const;

 private:
  using Path = std::vector<TypeIndex>;
  using Key = std::tuple<TaskIndex, Path, TaskActivity::Doing, bool, std::uint32_t>;

  const Analysis& analysis_;
  std::map<Key, Spread> sums_;
};

}  // namespace fkt
