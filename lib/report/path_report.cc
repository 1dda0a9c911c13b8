// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/path_report.h"

#include <algorithm>
#include <map>

#include "lib/base/table.h"
#include "lib/format/programs_only.h"

namespace fkt {
namespace {

using Doing = TaskActivity::Doing;
using In = Column::In;

constexpr std::size_t kPathTime = 12;  // width of the columns of times

std::string step_subject(const PathStep& step, const Analysis& analysis) {
  return std::string(analysis.tasks().name(step.task));
}

// Adds the columns of task and activity: in the text, "find, running in sys_lstat" is one.
void add_what(TableOf<PathTable::Row>& table, const char* title) {
  table.add({.title = title, .left = true, .separated = true, .in = In::kText},
            [](const auto& row) { return row.task + ", " + row.what; });
  table.add({.key = "task", .in = In::kData}, [](const auto& row) { return row.task; });
  table.add({.key = "what", .in = In::kData}, [](const auto& row) { return row.what; });
}

Table sums_table(const PathTable& path) {
  TableOf<PathTable::Row> table(path.sums);
  table.add({.title = "Time", .key = "time", .width = kPathTime},
            [](const auto& row) { return Ticks{row.ticks}; });
  table.add({.title = "Percent", .key = "percent", .width = 9},
            [all = static_cast<double>(path.all)](const auto& row) {
              return Percent{100. * static_cast<double>(row.ticks) / all};
            });
  add_what(table, "What");
  return table;
}

Table steps_table(const PathTable& path) {
  constexpr std::size_t kFrom = 15, kPid = 8;
  TableOf<PathTable::Row> table(path.steps);
  table.add({.title = "From", .key = "from", .width = kFrom},
            [](const auto& row) { return Moment{row.from}; });
  table.add({.title = "Time", .key = "time", .width = kPathTime, .separated = true},
            [](const auto& row) { return Ticks{row.ticks}; });
  table.add({.title = "Pid", .key = "pid", .width = kPid + 1},
            [](const auto& row) { return row.pid; });
  add_what(table, "Task, what");
  return table;
}

}  // namespace

std::string step_text(const PathStep& step, const Analysis& analysis) {
  const std::string call =
      step.call == kNoType ? "" : " in " + std::string(call_name(analysis, step.call));
  switch (step.doing) {
    case Doing::running:
      return (programs_only(analysis.info()) ? "running or not" : "running") + call;
    case Doing::ready:
      return "waiting for a CPU";
    case Doing::asleep:
    case Doing::disk:
      break;
    default:
      return "not known";
  }
  const std::string until = step.by_interrupt && step.waker != TaskActivity::kNoWaker
                                ? ", woken by " + analysis.types()[step.waker].name
                                : "";
  return "asleep" + call + until;
}

PathTable path_table(const std::vector<PathStep>& path, const Analysis& analysis) {
  PathTable table;
  std::map<std::pair<std::string, std::string>, std::uint64_t> sums;
  for (const PathStep& step : path) {
    const std::uint64_t ticks = step.to - step.from;
    table.steps.push_back({step_subject(step, analysis), step_text(step, analysis), ticks,
                           step.from - std::min(step.from, analysis.start()),
                           analysis.tasks()[step.task].tid});
    sums[{table.steps.back().task, table.steps.back().what}] += ticks;
    table.all += ticks;
  }
  for (const auto& [key, ticks] : sums) table.sums.push_back({key.first, key.second, ticks});
  std::ranges::stable_sort(table.sums, std::greater{}, &PathTable::Row::ticks);
  table.all_steps = table.steps.size();
  return table;
}

void PathTable::cut(std::size_t most) {
  if (sums.size() > most) sums.resize(most);
  if (steps.size() > most) steps.resize(most);
}

void write_path(TextWriter& out, const PathTable& table, bool steps, const TimeFormat& time) {
  write_text(out, sums_table(table), time);
  out.put('\n');
  if (steps) return write_text(out, steps_table(table), time);
  out.number(table.all_steps);
  out.put(table.all_steps == 1 ? " step, " : " steps, ");
  time.put(out, table.all);
  out.put(" in all; --steps shows each\n");
}

void write_path_json(TextWriter& out, const PathTable& table, bool steps, const TimeFormat& time) {
  JsonReport report(out, time);
  report.rows("sums", sums_table(table), JsonRows::on_lines, true);
  if (steps) report.rows("path", steps_table(table), JsonRows::on_lines, true);
}

void write_path_csv(TextWriter& out, const PathTable& table, bool steps, const TimeFormat& time) {
  write_csv(out, sums_table(table), time, "sums");
  if (steps) write_csv(out, steps_table(table), time, "path");
}

}  // namespace fkt
