// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/off_cpu.h"

#include <algorithm>
#include <utility>

#include "lib/analyse/waker.h"

namespace fkt {

void OffCpu::add(TaskIndex task, const TaskActivity::Period& period) {
  using Doing = TaskActivity::Doing;
  const bool off =
      period.doing == Doing::ready || period.doing == Doing::asleep || period.doing == Doing::disk;
  if (!off || analysis_.tasks()[task].idle) return;
  Path path = analysis_.spans().path(task);
  // After a gap the known calls of a task may not be those in which it slept.
  if ((path.empty() ? kNoType : path.back()) != period.call) {
    path.clear();
    if (period.call != kNoType) path.push_back(period.call);
  }
  sums_[{task, std::move(path), period.doing, period.by_interrupt, period.waker}].add(period.to -
                                                                                      period.from);
}

std::vector<OffCpu::Row> OffCpu::rows() const {
  using Doing = TaskActivity::Doing;
  std::vector<Row> rows;
  for (const auto& [key, ticks] : sums_) {
    const auto& [task, path, doing, by_interrupt, waker] = key;
    if (!analysis_.is_own(task)) continue;
    Row& row = rows.emplace_back();
    row.task = waker_name(analysis_, {false, task});
    for (const TypeIndex call : path) row.calls.emplace_back(call_name(analysis_, call));
    row.wait = doing == Doing::ready ? "cpu" : doing == Doing::disk ? "disk" : "asleep";
    if (waker != TaskActivity::kNoWaker) row.waker = waker_name(analysis_, {by_interrupt, waker});
    row.ticks = ticks;
  }
  std::ranges::stable_sort(rows,
                           [](const Row& x, const Row& y) { return x.ticks.sum > y.ticks.sum; });
  return rows;
}

}  // namespace fkt
