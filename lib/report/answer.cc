// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/answer.h"

#include <algorithm>
#include <map>
#include <span>

#include <fmt/core.h>

#include <fkt/events.h>

#include "lib/analyse/waker.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/format/programs_only.h"
#include "lib/report/report_head.h"

namespace fkt {
namespace {

using AnswerIn = Column::In;
constexpr std::size_t kAnswerTime = 12;  // width of the columns of times
constexpr const char* kWhere = "Where it went";

// has_switches: without switches the spans of a thread are known, but not whether it ran.
std::string part_text(const CommandUse::Part& part, const Analysis& analysis, bool has_switches) {
  using What = CommandUse::What;
  const std::string in =
      part.call == kNoType ? "" : " in " + std::string(call_name(analysis, part.call));
  switch (part.what) {
    case What::runs:
      if (!has_switches) {
        return (in.empty() ? "outside of all spans" : in.substr(1)) + " (running or not)";
      }
      return "running" + (in.empty() ? " in no call (user mode)" : in);
    case What::ready:
      return "waiting for a CPU";
    case What::interrupts:
      return "interrupts";
    case What::waits_own:
      return "asleep until another of its tasks woke it";
    case What::sleeps:
      break;
  }
  if (part.waker == TaskActivity::kNoWaker) return "asleep" + in;
  return "asleep" + in + ", woken by " + waker_name(analysis, {part.by_interrupt, part.waker});
}

// Returns a row for the time that each process ran, and one for the rest of the CPUs' time.
std::vector<Answer::Row> process_rows(const Summary& summary) {
  std::vector<Answer::Row> rows;
  std::uint64_t known = 0;
  for (const Summary::ProcessRow& process : summary.processes) {
    std::uint64_t ran = 0;
    for (const CpuState state : {CpuState::user, CpuState::system, CpuState::running}) {
      ran += process.times[static_cast<std::size_t>(state)];
    }
    if (process.idle || ran == 0) continue;
    rows.push_back({ran, fmt::format("{} ({}) running", process.name, process.pid)});
    known += ran;
  }
  if (summary.cpu_ticks > known) {
    rows.push_back({summary.cpu_ticks - known, "idle, interrupts, not known"});
  }
  std::ranges::stable_sort(rows, std::greater{}, &Answer::Row::ticks);
  return rows;
}

// Returns a row for each kind of thing that the command's tasks did, most time first. parts: all.
std::vector<Answer::Row> kind_rows(const CommandUse& use, std::span<const CommandUse::Part> parts) {
  using What = CommandUse::What;
  static constexpr const char* kWaits[kWaitKinds + 1] = {
      "disk", "locks", "network", "timers and sleep", "other waits", "waits for each other"};
  std::uint64_t runs = 0, ready = 0;
  for (const CommandUse::Part& part : parts) {
    if (part.what == What::ready) ready += part.ticks;
    if (part.what == What::runs || part.what == What::interrupts) runs += part.ticks;
  }
  std::vector<Answer::Row> rows = {{runs, "on a CPU"}, {ready, "waiting for a CPU"}};
  for (std::size_t i = 0; i < kWaitKinds + 1; i++) rows.push_back({use.waits()[i], kWaits[i]});
  std::erase_if(rows, [](const Answer::Row& row) { return row.ticks == 0; });
  std::ranges::stable_sort(rows, std::greater{}, &Answer::Row::ticks);
  return rows;
}

// with_wakers: sleeps in one call are told apart by what ended them.
std::vector<Answer::Row> part_rows(const Analysis& analysis, const Summary& summary,
                                   std::span<const CommandUse::Part> parts, bool with_wakers) {
  std::map<std::string, std::uint64_t> sums;
  for (CommandUse::Part part : parts) {
    if (!with_wakers) part.waker = TaskActivity::kNoWaker;
    sums[part_text(part, analysis, summary.has_switches)] += part.ticks;
  }
  std::vector<Answer::Row> rows;
  for (const auto& [what, ticks] : sums) rows.push_back({ticks, what});
  std::ranges::stable_sort(rows, std::greater{}, &Answer::Row::ticks);
  return rows;
}

// Keeps `most` rows: combines the last ones into one row.
void join_least(std::vector<Answer::Row>& rows, std::size_t most) {
  if (rows.size() <= most) return;
  Answer::Row rest;
  for (std::size_t i = most - 1; i < rows.size(); i++) rest.ticks += rows[i].ticks;
  rest.what = fmt::format("{} other things", rows.size() - (most - 1));
  rows.resize(most - 1);
  rows.push_back(std::move(rest));
}

// Returns whether what join_least() combines is less than the first row: else it is the answer.
bool says_most(std::vector<Answer::Row> rows, std::size_t most) {
  join_least(rows, most);
  return rows.empty() || rows.back().ticks <= rows.front().ticks;
}

// title: of what it went to.
TableOf<Answer::Row> where_table(const Answer& answer, std::span<const Answer::Row> rows,
                                 const char* title) {
  TableOf<Answer::Row> table(rows);
  table.add({.title = "Time", .key = "time", .width = kAnswerTime},
            [](const Answer::Row& row) { return Ticks{row.ticks}; });
  table.add({.title = "Percent", .key = "percent", .width = 9},
            [all = static_cast<double>(answer.all)](const Answer::Row& row) {
              return Percent{100 * static_cast<double>(row.ticks) / all};
            });
  table.add({.title = title, .key = "what", .left = true, .separated = true},
            [](const Answer::Row& row) { return row.what; });
  return table;
}

TableOf<Answer::Call> slowest_calls_table(const Answer& answer) {
  TableOf<Answer::Call> table(answer.slowest);
  table.add({.title = "Time", .key = "time", .width = kAnswerTime},
            [](const Answer::Call& call) { return Ticks{call.ticks}; });
  table.add({.title = "At", .key = "at", .width = 14},
            [](const Answer::Call& call) { return Moment{call.at}; });
  table.add({.title = "Slowest calls",
             .key = "call",
             .width = 24,
             .left = true,
             .separated = true,
             .fitted = true},
            [](const Answer::Call& call) { return call.call; });
  table.add({.title = "Task", .left = true, .separated = true, .in = AnswerIn::kText},
            [](const Answer::Call& call) { return fmt::format("{} ({})", call.task, call.pid); });
  table.add({.key = "task", .in = AnswerIn::kData},
            [](const Answer::Call& call) { return call.task; });
  table.add({.key = "pid", .in = AnswerIn::kData},
            [](const Answer::Call& call) { return std::uint64_t{call.pid}; });
  return table;
}

// Puts the text line by line, each cut to the width.
void put_cut(TextWriter& out, std::string_view text, std::size_t width) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (width > 0) line = first_columns(line, width);
    out.put(line);
    out.put('\n');
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string head_text(const Answer& answer, const TimeFormat& time) {
  TextWriter out;
  out.message(answer.command.empty() ? "The whole machine" : answer.command);
  out.put(": ");
  out.put(time.text(answer.duration));
  if (!time.unit().empty()) out.put(' ' + std::string(time.unit()));
  out.put(", " + with_commas(answer.events) + " events " +
          (answer.user_only ? "of user programs" : "on " + counted(answer.cpus, "CPU")));
  if (answer.lost > 0) {
    out.put(", " + with_commas(answer.lost) + " LOST");
  } else {
    out.put(answer.whole ? ", none lost" : ", NOT complete");
  }
  return out.take();
}

void put_hints(TextWriter& out, const Answer& answer, const std::string& name) {
  const std::string file = name == "trace_file" ? "" : ' ' + shell_word(name);
  std::vector<std::pair<std::string, const char*>> hints = {
      {"fkt_print --calls" + file, "each task's calls and their errors"},
      {"fkt_kd --offcpu" + file, "what tasks waited for, and who woke them"},
      {"fkt_print --stats" + file, "everything; what was lost, and where"},
      {"fkt_selection" + file, "the picture"},
  };
  if (answer.pid != 0) {
    hints.insert(hints.begin(), {fmt::format("fkt_kd --critical-path {}{}", answer.pid, file),
                                 "why it was not faster"});
  }
  std::size_t width = 0;
  for (const auto& [command, shows] : hints) width = std::max(width, columns_of(command));
  out.put("\nMore:\n");
  for (const auto& [command, shows] : hints) {
    out.put("  ");
    out.left(command, width + 2);
    out.put(shows);
    out.put('\n');
  }
}

}  // namespace

Answer make_answer(const CommandUse& use, const Analysis& analysis, const Summary& summary,
                   std::size_t most) {
  Answer answer;
  const bool command = use.has_command() && use.ticks() > 0;
  if (command) answer.command = command_text(analysis.info().command);
  if (command && answer.command.empty()) answer.command = fmt::format("Process {}", use.pid());
  answer.pid = command ? use.pid() : 0;
  answer.duration = summary.selected.ticks;
  answer.events = summary.events;
  answer.lost = summary.lost;
  answer.cpus = summary.cpus.size();
  answer.user_only = programs_only(analysis.info());
  answer.tasks = use.tasks();
  answer.whole = summary.missing.empty();
  if (command) {
    const std::vector<CommandUse::Part> parts = use.parts();
    if (summary.has_switches) answer.kinds = kind_rows(use, parts);
    answer.rows = part_rows(analysis, summary, parts, true);
    if (!says_most(answer.rows, most)) {
      std::vector<Answer::Row> fewer = part_rows(analysis, summary, parts, false);
      if (says_most(fewer, most)) answer.rows = std::move(fewer);
    }
  } else {
    answer.rows = process_rows(summary);
  }
  for (const Answer::Row& row : answer.rows) answer.all += row.ticks;
  join_least(answer.rows, most);
  for (const CommandUse::Call& call : use.slowest()) {
    answer.slowest.push_back({call.ticks, call.begin - std::min(call.begin, analysis.start()),
                              analysis.types()[call.type].name, call.name,
                              analysis.tasks()[call.task].tid});
  }
  return answer;
}

void write_answer(TextWriter& out, const Answer& answer, const AnswerShape& shape,
                  const TimeFormat& time) {
  const auto bold = [&](std::string_view line) {
    if (shape.bold) out.put("\033[1m");
    put_cut(out, line, shape.width);
    if (shape.bold) out.put("\033[0m");
  };
  bold(head_text(answer, time));
  TextWriter text;
  if (answer.pid != 0) {
    text.put(counted(answer.tasks, "task") + ", " + time.text(answer.all) + ' ');
    text.put(std::string(time.unit()) + (time.unit().empty() ? "" : " ") + "in all\n");
  }
  if (!answer.kinds.empty()) {
    write_text(text, where_table(answer, answer.kinds, kWhere), time);
    text.put('\n');
  }
  if (!answer.rows.empty()) {
    write_text(text, where_table(answer, answer.rows, answer.kinds.empty() ? kWhere : "In detail"),
               time);
  }
  if (!answer.slowest.empty()) {
    text.put('\n');
    write_text(text, slowest_calls_table(answer), time);
  }
  put_cut(out, text.view(), shape.width);
  TextWriter hints;
  put_hints(hints, answer, shape.file);
  put_cut(out, hints.view(), shape.width);
}

void write_answer_json(TextWriter& out, const Answer& answer, const TimeFormat& time) {
  JsonReport report(out, time);
  report.members("command", answer.command, "pid", answer.pid);
  report.ticks("duration", answer.duration);
  report.members("events", answer.events, "lost", answer.lost, "tasks", answer.tasks);
  report.ticks("time", answer.all);
  report.rows("kinds", where_table(answer, answer.kinds, kWhere), JsonRows::on_lines, true);
  report.rows("where", where_table(answer, answer.rows, kWhere), JsonRows::on_lines, true);
  report.rows("slowest", slowest_calls_table(answer), JsonRows::on_lines, true);
}

void write_answer_csv(TextWriter& out, const Answer& answer, const TimeFormat& time) {
  write_csv(out, where_table(answer, answer.kinds, kWhere), time, "kinds");
  write_csv(out, where_table(answer, answer.rows, kWhere), time, "where");
  write_csv(out, slowest_calls_table(answer), time, "slowest");
}

}  // namespace fkt
