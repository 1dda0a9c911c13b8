// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/lock_use.h"

#include <algorithm>

namespace fkt {
namespace {

// The kernel's LCB_F_...
enum : std::uint64_t { kSpin = 1, kRead = 2, kWrite = 4, kRealtime = 8, kPerCpu = 16, kMutex = 32 };

std::string_view kind_of(const LockWait& wait) {
  if (wait.futex) return wait.mutex ? "futex mutex" : "futex";
  const bool reads = (wait.flags & kRead) != 0, writes = (wait.flags & kWrite) != 0;
  if ((wait.flags & kMutex) != 0) return "mutex";
  if ((wait.flags & kRealtime) != 0)
    return reads ? "rwlock-rt:R" : writes ? "rwlock-rt:W" : "rtmutex";
  if ((wait.flags & kPerCpu) != 0) return reads ? "pcpu-sem:R" : "pcpu-sem:W";
  if ((wait.flags & kSpin) != 0) return reads ? "rwlock:R" : writes ? "rwlock:W" : "spinlock";
  return reads ? "rwsem:R" : writes ? "rwsem:W" : "semaphore";
}

}  // namespace

LockUse::LockUse(const Analysis& analysis) : analysis_(analysis), waits_(analysis) {
  waits_.tell(
      [this](const LockWait& wait) {
        if (!shown_) return;
        const std::uint64_t ticks = wait.end - wait.begin;
        Row& sum = row(wait.address, wait.futex, wait.task);
        sum.kind = kind_of(wait);
        if (sum.waits.count == 0 || ticks > sum.waits.max) sum.longest = wait;
        sum.waits.add(ticks);
        sum.durations.add(ticks);
        sum.failed += wait.result < 0 ? 1 : 0;
        if (wait.holder != kNoTask) sum.wakers[wait.holder].add(ticks);
      },
      [this](const LockHold& hold) {
        if (!shown_) return;
        Row& sum = row(hold.address, hold.user, hold.task);
        sum.holds.add(hold.end - hold.begin);
        sum.holders[hold.task].add(hold.end - hold.begin);
      });
}

LockUse::Row& LockUse::row(std::uint64_t address, bool user, TaskIndex task) {
  const TaskIndex leader = analysis_.tasks()[task].leader;
  const TaskIndex process = !user ? kNoTask : leader == kNoTask ? task : leader;
  Row& sum = sums_[{process, address}];
  sum.address = address;
  sum.process = process;
  return sum;
}

void LockUse::add(const Event& event, const Analysis::Found& place) {
  shown_ = place.shown;
  waits_.add(event, place);
}

std::vector<LockUse::Row> LockUse::rows() const {
  std::vector<Row> rows;
  for (const auto& [key, sum] : sums_) rows.push_back(sum);
  std::ranges::stable_sort(rows, [](const Row& x, const Row& y) {
    return std::pair(x.waits.sum, x.holds.sum) > std::pair(y.waits.sum, y.holds.sum);
  });
  return rows;
}

}  // namespace fkt
