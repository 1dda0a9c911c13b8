// SPDX-License-Identifier: GPL-2.0-only
#include "lib/calls/function_table.h"

#include <algorithm>

namespace fkt {
namespace {

FunctionRow make_row(const SpanStats& stats, const TypeNames& types, TypeIndex type) {
  FunctionRow row;
  row.name = types.name(type);
  row.count = stats.entries;
  row.whole = stats.total.count;
  row.time = stats.total.sum;
  row.min = row.whole == 0 ? 0 : stats.total.min;
  row.max = stats.total.max;
  row.local = stats.self_whole;
  row.sub = stats.sub;
  row.blocked = stats.blocked.ticks + stats.sub_blocked;
  row.preempted = stats.preempted.ticks + stats.sub_preempted;
  const std::uint64_t known = row.local + row.sub + row.blocked + row.preempted;
  row.interrupts = row.time > known ? row.time - known : 0;
  row.p50 = stats.percentile(50);
  row.p90 = stats.percentile(90);
  row.p99 = stats.percentile(99);
  for (const Child& child : stats.children) {
    if (types.interrupt(child.type)) continue;
    row.subs.push_back({std::string(types.name(child.type)), child.count, child.ticks});
  }
  std::stable_sort(row.subs.begin(), row.subs.end(),
                   [](const auto& x, const auto& y) { return x.time > y.time; });
  return row;
}

}  // namespace

std::vector<FunctionRow> function_rows(const Profile& profile, const TypeNames& types) {
  std::vector<FunctionRow> rows;
  for (TypeIndex type = 0; type < types.count; type++) {
    const SpanStats& stats = profile.stats(type);
    if (stats.entries > 0) rows.push_back(make_row(stats, types, type));
  }
  return rows;
}

}  // namespace fkt
