// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/path_report.h"

#include <algorithm>
#include <map>

namespace fkt {
namespace {

using Doing = TaskActivity::Doing;

constexpr std::size_t kEntry = 15, kTime = 12, kPid = 8;

std::string who(const PathStep& step, const Analysis& analysis) {
  return std::string(analysis.tasks().name(step.task));
}

std::string what(const PathStep& step, const Analysis& analysis) {
  const std::string call = step.call == kNoType ? "" : " in " + analysis.types()[step.call].name;
  switch (step.doing) {
    case Doing::running:
      return "running" + call;
    case Doing::ready:
      return "waiting for a CPU";
    case Doing::asleep:
    case Doing::disk:
      break;
    default:
      return "not known";
  }
  const std::string until = step.by_interrupt && step.waker != TaskActivity::kNobody
                                ? ", woken by " + analysis.types()[step.waker].name
                                : "";
  return "asleep" + call + until;
}

double percent(const PathTable& table, std::uint64_t ticks) {
  return 100. * static_cast<double>(ticks) / static_cast<double>(table.all);
}

// Writes "find, running in sys_lstat" and a newline.
void put_text(TextWriter& out, const PathTable::Row& row) {
  out.escaped(row.task);
  out.put(", ");
  out.put(row.what);
  out.put('\n');
}

void json_member(TextWriter& out, std::string_view key, std::string_view text) {
  out.put(",\"");
  out.put(key);
  out.put("\":");
  out.json(text);
}

}  // namespace

PathTable path_table(const std::vector<PathStep>& path, const Analysis& analysis) {
  PathTable table;
  std::map<std::pair<std::string, std::string>, std::uint64_t> sums;
  for (const PathStep& step : path) {
    const std::uint64_t ticks = step.to - step.from;
    table.steps.push_back({who(step, analysis), what(step, analysis), ticks,
                           step.from - std::min(step.from, analysis.start()),
                           analysis.tasks()[step.task].tid});
    sums[{table.steps.back().task, table.steps.back().what}] += ticks;
    table.all += ticks;
  }
  for (const auto& [key, ticks] : sums) table.sums.push_back({key.first, key.second, ticks});
  std::ranges::stable_sort(table.sums, std::greater{}, &PathTable::Row::ticks);
  return table;
}

void write_path(TextWriter& out, const PathTable& table, const TimeFormat& time) {
  out.right("Time", kTime);
  out.right("Percent", 9);
  out.put(" What\n");
  for (const PathTable::Row& row : table.sums) {
    time.right(out, row.ticks, kTime);
    TextWriter share;
    share.decimal(percent(table, row.ticks), 2);
    out.right(share.view(), 8);
    out.put("% ");
    put_text(out, row);
  }
  out.put('\n');
  out.right("From", kEntry);
  out.right("Time", kTime + 1);
  out.right("Pid", kPid + 1);
  out.put(" Task, what\n");
  for (const PathTable::Row& row : table.steps) {
    time.right(out, row.from, kEntry);
    out.put(' ');
    time.right(out, row.ticks, kTime);
    out.right(row.pid, kPid + 1);
    out.put(' ');
    put_text(out, row);
  }
}

void write_path_json(TextWriter& out, const PathTable& table, const TimeFormat& time) {
  out.put("{\"unit\":");
  out.json(time.unit());
  out.put(",\n\"sums\":[");
  for (const PathTable::Row& row : table.sums) {
    out.put(&row == table.sums.data() ? "\n{\"time\":" : ",\n{\"time\":");
    time.put(out, row.ticks);
    out.put(",\"percent\":");
    out.decimal(percent(table, row.ticks), 2);
    json_member(out, "task", row.task);
    json_member(out, "what", row.what);
    out.put('}');
  }
  out.put("],\n\"path\":[");
  for (const PathTable::Row& row : table.steps) {
    out.put(&row == table.steps.data() ? "\n{\"from\":" : ",\n{\"from\":");
    time.put(out, row.from);
    out.put(",\"time\":");
    time.put(out, row.ticks);
    out.put(",\"pid\":");
    out.number(row.pid);
    json_member(out, "task", row.task);
    json_member(out, "what", row.what);
    out.put('}');
  }
  out.put("]}\n");
}

void write_path_csv(TextWriter& out, const PathTable& table, const TimeFormat& time) {
  const auto end = [&](const PathTable::Row& row) {
    for (const std::string_view text : {row.task, row.what}) {
      out.put(',');
      out.csv(text);
    }
    out.put("\r\n");
  };
  out.put("table,time,percent,task,what\r\n");
  for (const PathTable::Row& row : table.sums) {
    out.put("sums,");
    time.put(out, row.ticks);
    out.put(',');
    out.decimal(percent(table, row.ticks), 2);
    end(row);
  }
  out.put("\r\ntable,from,time,pid,task,what\r\n");
  for (const PathTable::Row& row : table.steps) {
    out.put("path,");
    time.put(out, row.from);
    out.put(',');
    time.put(out, row.ticks);
    out.put(',');
    out.number(row.pid);
    end(row);
  }
}

}  // namespace fkt
