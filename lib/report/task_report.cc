// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/task_report.h"

#include "lib/base/table.h"

namespace fkt {
namespace {

using In = Column::In;
using Parts = std::vector<TaskRow::Part>;

// Returns the parts as a nested table. time_key: JSON key of their times.
std::shared_ptr<const Table> parts_table(const Parts& parts, std::string_view time_key) {
  TableOf<TaskRow::Part> table(parts);
  table.add({.key = "name"}, [](const auto& part) { return part.name; });
  table.add({.key = "count"}, [](const auto& part) { return part.count; });
  table.add({.key = time_key}, [](const auto& part) { return Ticks{part.time}; });
  return std::make_shared<const Table>(std::move(table));
}

Table tasks_table(const std::vector<TaskRow>& rows) {
  constexpr std::size_t kName = 20, kPid = 8, kCount = 8, kTime = 12;
  TableOf<TaskRow> table(rows);
  table.add({.title = "Name", .key = "name", .width = kName, .left = true, .fitted = true},
            [](const TaskRow& row) { return row.name; });
  table.add({.title = "Pid", .key = "pid", .width = kPid},
            [](const TaskRow& row) { return row.pid; });
  const auto ticks = [&](const char* title, std::string_view key, auto value) {
    table.add({.title = title, .key = key, .width = kTime, .separated = true},
              [value](const TaskRow& row) { return Ticks{value(row)}; });
  };
  const auto count = [&](const char* title, std::string_view key, auto value) {
    table.add({.title = title, .key = key, .width = kCount, .separated = true},
              [value](const TaskRow& row) { return value(row); });
  };
  ticks("Running", "running", [](const TaskRow& row) { return row.stat.running; });
  ticks("Ready", "ready", [](const TaskRow& row) { return row.stat.ready; });
  ticks("Asleep", "asleep", [](const TaskRow& row) { return row.stat.asleep; });
  ticks("Disk", "disk", [](const TaskRow& row) { return row.stat.disk; });
  count("Runs", "runs", [](const TaskRow& row) { return row.stat.runs; });
  count("Preempt", "preempted", [](const TaskRow& row) { return row.stat.preempted; });
  count("Wakeups", "wakeups", [](const TaskRow& row) { return row.stat.wakeups; });
  ticks("Wait p50", "wait_p50", [](const TaskRow& row) { return row.p50; });
  ticks("p90", "wait_p90", [](const TaskRow& row) { return row.p90; });
  ticks("p99", "wait_p99", [](const TaskRow& row) { return row.p99; });
  ticks("max", "wait_max", [](const TaskRow& row) { return row.stat.wait.max; });
  table.add({.title = "Woken by (most often)", .left = true, .separated = true, .in = In::kText},
            [](const TaskRow& row) {
              return row.wakers.empty() ? Cell(kBlank) : Cell(row.wakers[0].name);
            });
  table.add({.key = "asleep_in", .in = In::kJson},
            [](const TaskRow& row) { return parts_table(row.in, "time"); });
  table.add({.key = "woken_by", .in = In::kJson},
            [](const TaskRow& row) { return parts_table(row.wakers, "wait"); });
  return table;
}

// Writes a line for each part: "    asleep in sys_read: 2 times, 1.234".
void write_parts(TextWriter& out, std::string_view what, const Parts& parts, std::string_view then,
                 const TimeFormat& time) {
  for (const TaskRow::Part& part : parts) {
    out.fill(4);
    out.put(what);
    out.escaped(part.name);
    out.put(": ");
    out.number(part.count);
    out.put(part.count == 1 ? " time, " : " times, ");
    out.put(then);
    time.put(out, part.time);
    out.put('\n');
  }
}

}  // namespace

void write_tasks(TextWriter& out, const std::vector<TaskRow>& rows, bool long_form,
                 const TimeFormat& time) {
  Table table = tasks_table(rows);
  if (long_form) {
    table.after_row([&](TextWriter& below, std::size_t row) {
      write_parts(below, "asleep in ", rows[row].in, "", time);
      write_parts(below, "woken by ", rows[row].wakers, "then waited ", time);
    });
  }
  write_text(out, table, time);
}

void write_tasks_json(TextWriter& out, const std::vector<TaskRow>& rows, const TimeFormat& time) {
  JsonReport(out, time).rows("tasks", tasks_table(rows), JsonRows::on_lines, true);
}

void write_tasks_csv(TextWriter& out, const std::vector<TaskRow>& rows, const TimeFormat& time) {
  write_csv(out, tasks_table(rows), time);
}

}  // namespace fkt
