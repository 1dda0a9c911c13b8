// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/calls_report.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/table.h"

namespace fkt {
namespace {

using In = Column::In;
using CallsRow = TaskCalls::Row;
using ErrorCount = std::pair<std::int64_t, std::uint64_t>;  // its negative number, how often

// The row's errors, most often first.
std::vector<ErrorCount> errors_of(const CallsRow& row) {
  std::vector<ErrorCount> errors(row.errors.begin(), row.errors.end());
  std::ranges::stable_sort(errors, std::greater{}, &ErrorCount::second);
  return errors;
}

std::string errors_text(const CallsRow& row) {
  std::string text;
  for (const auto& [error, count] : errors_of(row)) {
    if (!text.empty()) text += ", ";
    text += std::string(NumberNames::error(error)) + ' ' + std::to_string(count);
  }
  return text;
}

std::shared_ptr<const Table> errors_table(const CallsRow& row) {
  const std::vector<ErrorCount> errors = errors_of(row);
  auto table = std::make_shared<Table>(errors.size());
  table->add_column({.key = "name"}, [errors](std::size_t i) {
    return Cell(std::string(NumberNames::error(errors[i].first)));
  });
  table->add_column({.key = "count"}, [errors](std::size_t i) { return Cell(errors[i].second); });
  return table;
}

// The row's files, most time first.
std::vector<std::pair<std::string, Spread>> files_of(const CallsRow& row) {
  std::vector<std::pair<std::string, Spread>> files(row.files.begin(), row.files.end());
  std::ranges::stable_sort(files, std::greater{}, [](const auto& file) { return file.second.sum; });
  return files;
}

std::shared_ptr<const Table> files_table(const CallsRow& row) {
  const auto files = files_of(row);
  auto table = std::make_shared<Table>(files.size());
  table->add_column({.key = "file"}, [files](std::size_t i) { return Cell(files[i].first); });
  table->add_column({.key = "count"},
                    [files](std::size_t i) { return Cell(files[i].second.count); });
  table->add_column({.key = "total"},
                    [files](std::size_t i) { return Cell(Ticks{files[i].second.sum}); });
  return table;
}

// Writes below a row in which files it took most time, if that is a tenth of it.
void write_files(TextWriter& out, const CallsRow& row, const TimeFormat& time) {
  constexpr std::size_t kMostFiles = 3;
  std::size_t listed = 0;
  for (const auto& [file, spread] : files_of(row)) {
    if (++listed > kMostFiles || spread.sum * 10 < row.stats.total.sum) break;
    out.put("    ");
    out.escaped(file);
    out.put(": ");
    out.number(spread.count);
    out.put(", ");
    time.put(out, spread.sum);
    out.put('\n');
  }
}

std::string name_of(const CallsRow& row, const Analysis& analysis) {
  return row.type == kNoType ? "[refused before it began]" : analysis.types()[row.type].name;
}

TableOf<CallsRow> task_calls_table(std::span<const CallsRow> rows, const Analysis& analysis) {
  constexpr std::size_t kCount = 8, kTime = 12;
  TableOf<CallsRow> table(rows);
  table.add({.key = "task", .in = In::kData},
            [&](const CallsRow& row) { return std::string(analysis.tasks().name(row.task)); });
  table.add({.key = "pid", .in = In::kData},
            [&](const CallsRow& row) { return std::uint64_t{analysis.tasks()[row.task].tid}; });
  table.add({.title = "  Call", .width = 24, .left = true, .fitted = true, .in = In::kText},
            [&](const CallsRow& row) { return "  " + name_of(row, analysis); });
  table.add({.key = "call", .in = In::kData},
            [&](const CallsRow& row) { return name_of(row, analysis); });
  table.add({.title = "Count", .key = "count", .width = kCount, .separated = true},
            [](const CallsRow& row) { return row.stats.total.count; });
  const auto ticks = [&](const char* title, std::string_view key, auto value) {
    table.add({.title = title, .key = key, .width = kTime, .separated = true},
              [value](const CallsRow& row) {
                return row.stats.total.count == 0 ? Cell(kUnknown) : Cell(Ticks{value(row.stats)});
              });
  };
  ticks("Total", "total", [](const SpanStats& stats) { return stats.total.sum; });
  ticks("Average", "average", [](const SpanStats& stats) {
    return (stats.total.sum + stats.total.count / 2) / stats.total.count;
  });
  ticks("p50", "p50", [](const SpanStats& stats) { return stats.percentile(50); });
  ticks("p99", "p99", [](const SpanStats& stats) { return stats.percentile(99); });
  ticks("Max", "max", [](const SpanStats& stats) { return stats.total.max; });
  table.add({.title = "Cut", .key = "cut", .width = 5, .separated = true},
            [](const CallsRow& row) { return row.cut(); });
  table.add({.title = " Errors", .left = true, .separated = true, .in = In::kText},
            [](const CallsRow& row) {
              return row.errors.empty() ? Cell(kBlank) : Cell(' ' + errors_text(row));
            });
  table.add({.key = "errors", .in = In::kJson},
            [](const CallsRow& row) { return errors_table(row); });
  table.add({.key = "files", .in = In::kJson},
            [](const CallsRow& row) { return files_table(row); });
  table.add({.key = "errors", .in = In::kCsv},
            [](const CallsRow& row) { return errors_text(row); });
  return table;
}

std::span<const CallsRow> first_rows(const TaskCalls::Task& task, std::size_t top) {
  return std::span(task.rows).first(std::min(top, task.rows.size()));
}

// "find (158): 12 calls"
void write_task_head(TextWriter& out, const TaskCalls::Task& task, const Analysis& analysis) {
  std::uint64_t count = 0;
  for (const CallsRow& row : task.rows) count += row.stats.entries;
  out.escaped(analysis.tasks().name(task.task));
  if (!analysis.tasks()[task.task].idle) {
    out.put(" (");
    out.number(analysis.tasks()[task.task].tid);
    out.put(')');
  }
  out.put(": ");
  out.number(count);
  out.put(count == 1 ? " call\n" : " calls\n");
}

void write_left_out(TextWriter& out, std::size_t all, std::size_t shown, const char* what) {
  if (all <= shown) return;
  out.put(what);
  out.number(all - shown);
  out.put(" more (--top)\n");
}

}  // namespace

void CallsReport::text(TextWriter& out) const {
  const std::vector<TaskCalls::Task> tasks = calls.tasks();
  for (std::size_t i = 0; i < std::min(top, tasks.size()); i++) {
    if (i > 0) out.put('\n');
    write_task_head(out, tasks[i], analysis);
    const auto rows = first_rows(tasks[i], top);
    TableOf<CallsRow> table = task_calls_table(rows, analysis);
    table.after_row([&](TextWriter& to, std::size_t at) { write_files(to, rows[at], time); });
    write_text(out, table, time);
    write_left_out(out, tasks[i].rows.size(), top, "  and calls of other names: ");
  }
  if (tasks.size() > top) out.put('\n');
  write_left_out(out, tasks.size(), top, "and other tasks: ");
}

void CallsReport::json(TextWriter& out) const {
  const std::vector<TaskCalls::Task> tasks = calls.tasks();
  for (std::size_t i = 0; i < std::min(top, tasks.size()); i++) {
    write_json_lines(out, task_calls_table(first_rows(tasks[i], top), analysis), time);
  }
}

void CallsReport::csv(TextWriter& out) const {
  const std::vector<TaskCalls::Task> tasks = calls.tasks();
  std::vector<CallsRow> rows;
  for (std::size_t i = 0; i < std::min(top, tasks.size()); i++) {
    const auto shown = first_rows(tasks[i], top);
    rows.insert(rows.end(), shown.begin(), shown.end());
  }
  write_csv(out, task_calls_table(rows, analysis), time);
}

}  // namespace fkt
