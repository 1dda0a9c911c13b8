// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/off_cpu_report.h"

#include <algorithm>
#include <span>

#include "lib/base/table.h"

namespace fkt {
namespace {

using OffRow = OffCpu::Row;

// "sys_read;vfs_read": the calls, the outermost first; "no call".
std::string calls_text(const OffRow& row) {
  std::string text;
  for (const std::string& call : row.calls) text += (text.empty() ? "" : ";") + call;
  return text.empty() ? "no call" : text;
}

TableOf<OffRow> off_cpu_table(const OffCpuReport& report) {
  constexpr std::size_t kTime = 12, kName = 20;
  const std::span<const OffRow> all(report.rows);
  TableOf<OffRow> table(all.first(std::min(report.top, all.size())));
  double whole = 0;
  for (const OffRow& row : all) whole += static_cast<double>(row.ticks.sum);
  const auto ticks = [&](const char* title, std::string_view key, auto value) {
    table.add({.title = title, .key = key, .width = kTime, .separated = true},
              [value](const OffRow& row) { return Ticks{value(row.ticks)}; });
  };
  ticks("Time", "time", [](const Spread& spread) { return spread.sum; });
  table.add({.title = "Percent", .key = "percent", .width = 8, .separated = true},
            [whole](const OffRow& row) {
              return Percent{100 * static_cast<double>(row.ticks.sum) / whole};
            });
  table.add({.title = "Count", .key = "count", .width = 8, .separated = true},
            [](const OffRow& row) { return row.ticks.count; });
  ticks("Average", "average",
        [](const Spread& spread) { return (spread.sum + spread.count / 2) / spread.count; });
  ticks("Max", "max", [](const Spread& spread) { return spread.max; });
  const auto name = [&](const char* title, std::string_view key, std::size_t width, auto value) {
    table.add({.title = title,
               .key = key,
               .width = width,
               .left = true,
               .separated = true,
               .fitted = width > 0},
              value);
  };
  name("Task", "task", kName, [](const OffRow& row) { return row.task; });
  name("In", "in", kName, calls_text);
  name("For", "for", 6, [](const OffRow& row) { return std::string(row.wait); });
  name("Woken by", "woken_by", 0,
       [](const OffRow& row) { return row.waker.empty() ? Cell(kUnknown) : Cell(row.waker); });
  return table;
}

}  // namespace

void OffCpuReport::text(TextWriter& out) const {
  write_text(out, off_cpu_table(*this), time);
  if (rows.size() <= top) return;
  out.put("and ");
  out.number(rows.size() - top);
  out.put(" more\n");
}

void OffCpuReport::json(TextWriter& out) const {
  JsonReport(out, time).rows("off_cpu", off_cpu_table(*this), JsonRows::on_lines, true);
}

void OffCpuReport::csv(TextWriter& out) const {
  write_csv(out, off_cpu_table(*this), time);
}

void add_off_cpu(CallTree& tree, const std::vector<OffCpu::Row>& rows) {
  for (const OffCpu::Row& row : rows) {
    std::vector<std::string> path = {row.task};
    path.insert(path.end(), row.calls.begin(), row.calls.end());
    path.push_back('[' + std::string(row.wait) + ']');
    if (!row.waker.empty()) path.push_back(row.waker);
    tree.add(path, row.ticks.sum, row.ticks.count);
  }
}

}  // namespace fkt
