// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/runs_report.h"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "lib/base/table.h"

namespace fkt {
namespace {

using In = Column::In;
using TaskRun = TaskRuns::Run;

Cell ticks_or_unknown(const std::optional<std::uint64_t>& value) {
  return value ? Cell(Ticks{*value}) : Cell(kUnknown);
}

TableOf<TaskRun> runs_table(std::span<const TaskRun> runs, const Analysis& analysis) {
  constexpr std::size_t kMoment = 15, kTime = 12;
  TableOf<TaskRun> table(runs);
  table.add({.title = "Until", .key = "until", .width = kMoment}, [&](const TaskRun& run) {
    return Moment{run.to - std::min(run.to, analysis.start())};
  });
  table.add({.title = "CPU", .key = "cpu", .width = 5},
            [](const TaskRun& run) { return std::uint64_t{run.cpu}; });
  table.add({.title = "Task", .width = 24, .left = true, .separated = true, .in = In::kText},
            [&](const TaskRun& run) {
              return fmt::format(" {} ({})", run.name, analysis.tasks()[run.task].tid);
            });
  table.add({.key = "task", .in = In::kData}, [](const TaskRun& run) { return run.name; });
  table.add({.key = "pid", .in = In::kData},
            [&](const TaskRun& run) { return std::uint64_t{analysis.tasks()[run.task].tid}; });
  table.add({.title = "Waited", .key = "waited", .width = kTime, .separated = true},
            [](const TaskRun& run) { return ticks_or_unknown(run.waited); });
  table.add({.title = "Delay", .key = "delay", .width = kTime, .separated = true},
            [](const TaskRun& run) { return ticks_or_unknown(run.delay); });
  table.add({.title = "Ran", .key = "ran", .width = kTime, .separated = true},
            [](const TaskRun& run) { return Ticks{run.to - run.from}; });
  table.add({.key = "begun", .in = In::kData}, [](const TaskRun& run) { return run.begun; });
  table.add({.title = "Left", .key = "left", .width = 4, .left = true, .separated = true},
            [](const TaskRun& run) {
              return run.left == 0 ? Cell(kUnknown)
                                   : Cell(std::string(NumberNames::switch_state(run.left)));
            });
  table.add(
      {.title = "Woken by", .key = "woken_by", .left = true, .separated = true},
      [](const TaskRun& run) { return run.waker.empty() ? Cell(kUnknown) : Cell(run.waker); });
  return table;
}

}  // namespace

void RunsReport::flush() {
  if (runs_.empty() && begun_) return;
  TableOf<TaskRun> table = runs_table(runs_, analysis_);
  if (begun_) table.continues();
  begun_ = true;
  switch (form_) {
    case Form::text:
      write_text(out_, table, time_);
      break;
    case Form::json:
      write_json_lines(out_, table, time_);
      break;
    case Form::csv:
      write_csv(out_, table, time_);
      break;
  }
  runs_.clear();
}

}  // namespace fkt
