// SPDX-License-Identifier: GPL-2.0-only
// Waits for locks and times of holding them, summed by lock.
//
//   LockUse use(analysis);
//   for (const Event& event : recording.events()) use.add(event, analysis.add(event));
//   for (const LockUse::Row& row : use.rows()) ...
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "lib/analyse/lock_waits.h"
#include "lib/base/histogram.h"

namespace fkt {

class LockUse {
 public:
  struct Row {
    std::uint64_t address = 0;
    TaskIndex process = kNoTask;  // whose lock it is; kNoTask: the kernel's
    std::string_view kind;        // "mutex", "rwsem:W", as perf lock contention calls them; "futex"
    Spread waits, holds;
    std::uint64_t failed = 0;  // waits that ended without the lock, or by a time-out
    Histogram durations;       // of the waits
    LockWait longest;          // of the waits
    // Tasks that woke the waiting ones, and tasks that held the lock. The waker releases a mutex.
    std::map<TaskIndex, Spread> wakers, holders;
  };

  explicit LockUse(const Analysis& analysis);
  LockUse(const LockUse&) = delete;  // waits_ refers to it
  LockUse& operator=(const LockUse&) = delete;

  // Adds an event of which Analysis::add() returned `place`. A wait counts where the selection
  // shows the event that ends it, likewise a time of holding.
  void add(const Event& event, const Analysis::Found& place);
  // Returns the sums, those with the longest waits in all first.
  std::vector<Row> rows() const;
  // Returns whether the recording has what the table is made of.
  bool has_source() const { return waits_.has_contention() || waits_.has_arguments(); }

 private:
  Row& row(std::uint64_t address, bool user, TaskIndex task);

  const Analysis& analysis_;
  LockWaits waits_;
  bool shown_ = false;                                       // the event at hand
  std::map<std::pair<TaskIndex, std::uint64_t>, Row> sums_;  // by process and address
};

}  // namespace fkt
