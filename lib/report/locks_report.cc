// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/locks_report.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/analyse/task_activity.h"
#include "lib/analyse/waker.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/format/stack_frames.h"

namespace fkt {
namespace {

using LockRow = LockUse::Row;
using TaskSums = std::pair<TaskIndex, Spread>;

constexpr std::size_t kMostTasks = 3;

// Most often first.
std::vector<TaskSums> sorted(const std::map<TaskIndex, Spread>& tasks) {
  std::vector<TaskSums> all(tasks.begin(), tasks.end());
  std::ranges::stable_sort(all, std::greater{},
                           [](const TaskSums& one) { return one.second.count; });
  return all;
}

// "app (12) 4, app (13) 2"
Cell tasks_text(const std::map<TaskIndex, Spread>& tasks, const Analysis& analysis) {
  std::string text;
  std::size_t listed = 0;
  for (const auto& [task, sums] : sorted(tasks)) {
    if (++listed > kMostTasks) break;
    if (listed > 1) text += ", ";
    text += waker_name(analysis, {false, task}) + ' ' + std::to_string(sums.count);
  }
  if (tasks.size() > kMostTasks) text += ", ...";
  return text.empty() ? Cell(kUnknown) : Cell(text);
}

std::shared_ptr<const Table> tasks_table(const std::map<TaskIndex, Spread>& tasks,
                                         const Analysis& analysis) {
  const auto rows = std::make_shared<const std::vector<TaskSums>>(sorted(tasks));
  auto table = std::make_shared<Table>(rows->size());
  const auto add = [&](std::string_view key, auto value) {
    table->add_column({.key = key},
                      [rows, value](std::size_t i) { return Cell(value((*rows)[i])); });
  };
  add("task", [&](const TaskSums& one) { return std::string(analysis.tasks().name(one.first)); });
  add("pid", [&](const TaskSums& one) { return std::uint64_t{analysis.tasks()[one.first].tid}; });
  add("count", [](const TaskSums& one) { return one.second.count; });
  add("total", [](const TaskSums& one) { return Ticks{one.second.sum}; });
  add("max", [](const TaskSums& one) { return Ticks{one.second.max}; });
  return table;
}

// A lock of the kernel that is a variable has that variable's name.
std::string lock_name(const LockRow& row, const Analysis& analysis) {
  const Symbols& symbols = analysis.info().symbols;
  const bool has_name = row.process == kNoTask && symbols.at(row.address) != nullptr;
  return has_name ? std::string(symbols.name(row.address)) : hex(row.address);
}

// "futex_wait_queue < __futex_wait"; "0x7f01 < 0x7f02"
Cell stack_text(const LockWait& wait, const Analysis& analysis, const ProgramCode& code) {
  Field field;
  field.type = FieldType::stack;
  std::string text;
  for (std::size_t i = 0; i < wait.stack.size(); i++) {
    if (i > 0) text += " < ";
    text += wait.of_user ? code.frame(wait.task, wait.stack[i], i == 0)
                         : frame_name(field, wait.stack[i], i == 0, analysis.info().symbols);
  }
  return text.empty() ? Cell(kUnknown) : Cell(text);
}

void add_times(TableOf<LockRow>& table) {
  constexpr std::size_t kCount = 8, kTime = 12;
  const auto ticks = [&](std::string title, std::string_view key, auto value) {
    table.add({.title = std::move(title), .key = key, .width = kTime, .separated = true},
              [value](const LockRow& row) { return Ticks{value(row)}; });
  };
  table.add({.title = "Waits", .key = "waits", .width = kCount},
            [](const LockRow& row) { return row.waits.count; });
  ticks("Total", "total", [](const LockRow& row) { return row.waits.sum; });
  table.add({.key = "p50", .in = Column::kData}, [](const LockRow& row) {
    return Ticks{std::min(row.durations.percentile(50), row.waits.max)};
  });
  table.add({.key = "p99", .in = Column::kData}, [](const LockRow& row) {
    return Ticks{std::min(row.durations.percentile(99), row.waits.max)};
  });
  ticks("Max", "max", [](const LockRow& row) { return row.waits.max; });
  table.add({.key = "failed", .in = Column::kData}, [](const LockRow& row) { return row.failed; });
  table.add({.title = "Holds", .key = "holds", .width = kCount},
            [](const LockRow& row) { return row.holds.count; });
  ticks("Held", "held", [](const LockRow& row) { return row.holds.sum; });
  ticks("Held max", "held_max", [](const LockRow& row) { return row.holds.max; });
}

TableOf<LockRow> locks_table(std::span<const LockRow> rows, const Analysis& analysis,
                             const ProgramCode& code) {
  TableOf<LockRow> table(rows);
  add_times(table);
  const auto name = [&](Column column, auto value) {
    column.left = column.separated = true;
    table.add(std::move(column), value);
  };
  name({.title = "Kind", .key = "kind", .width = 11}, [](const LockRow& row) {
    return row.kind.empty() ? Cell(kUnknown) : Cell(std::string(row.kind));
  });
  name({.title = "Lock", .key = "lock", .width = 14, .fitted = true},
       [&](const LockRow& row) { return lock_name(row, analysis); });
  name({.title = "Process", .key = "process", .width = 10, .fitted = true},
       [&](const LockRow& row) {
         return row.process == kNoTask ? Cell(kUnknown)
                                       : Cell(waker_name(analysis, {false, row.process}));
       });
  table.add({.key = "address", .in = Column::kData},
            [](const LockRow& row) { return hex(row.address); });
  name({.title = "Longest in", .key = "in", .width = 12, .fitted = true}, [&](const LockRow& row) {
    return row.longest.in == kNoType ? Cell(kUnknown)
                                     : Cell(std::string(call_name(analysis, row.longest.in)));
  });
  name({.title = "Woken by", .in = Column::kText},
       [&](const LockRow& row) { return tasks_text(row.wakers, analysis); });
  table.add({.key = "stack", .in = Column::kData},
            [&](const LockRow& row) { return stack_text(row.longest, analysis, code); });
  table.add({.key = "woken_by", .in = Column::kJson},
            [&](const LockRow& row) { return tasks_table(row.wakers, analysis); });
  table.add({.key = "held_by", .in = Column::kJson},
            [&](const LockRow& row) { return tasks_table(row.holders, analysis); });
  table.add({.key = "woken_by", .in = Column::kCsv},
            [&](const LockRow& row) { return tasks_text(row.wakers, analysis); });
  table.add({.key = "held_by", .in = Column::kCsv},
            [&](const LockRow& row) { return tasks_text(row.holders, analysis); });
  return table;
}

}  // namespace

void LocksReport::text(TextWriter& out) const {
  const std::vector<LockRow> all = use.rows();
  const std::span rows = std::span(all).first(std::min(top, all.size()));
  if (!time.unit().empty()) out.put("Times in " + std::string(time.unit()) + '\n');
  write_text(out, locks_table(rows, analysis, code), time);
  if (rows.size() == all.size()) return;
  out.put("and ");
  out.number(all.size() - rows.size());
  out.put(" more (--top)\n");
}

void LocksReport::json(TextWriter& out) const {
  const std::vector<LockRow> all = use.rows();
  write_json_lines(
      out, locks_table(std::span(all).first(std::min(top, all.size())), analysis, code), time);
}

void LocksReport::csv(TextWriter& out) const {
  const std::vector<LockRow> all = use.rows();
  write_csv(out, locks_table(std::span(all).first(std::min(top, all.size())), analysis, code),
            time);
}

}  // namespace fkt
