// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/report_text.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include <fmt/core.h>

#include "lib/base/text.h"
#include "lib/report/hit_report.h"
#include "lib/report/report_head.h"
#include "lib/report/report_tables.h"

namespace fkt {
namespace {

constexpr double kPercentPerStar = 2.5;

void add_name(TableOf<Summary::EventRow>& table) {
  table.add({.title = "Name", .width = kNameWidth, .left = true},
            [](const auto& row) { return row.name; });
  table.add({.title = "Code", .width = 4, .separated = true, .spare = 3},
            [](const auto& row) { return code_cell(row.code); });
}

class Report {
 public:
  Report(TextWriter& out, const Summary& summary, const Analysis& analysis, const TimeFormat& time)
      : out_(out), s_(summary), a_(analysis), time_(time) {}

  void write() {
    histogram();
    points();
    durations();
    calls();
    processes();
    cpus();
    load();
    if (a_.info().hits) write_hits(out_, *a_.info().hits);
  }

 private:
  void histogram();
  void points();
  void durations();
  void calls();
  void call(const Summary::CallRow& row);
  void processes();
  void cpus();
  void load();

  void title(std::string_view text);
  void code(std::optional<std::uint16_t> code);
  void call_name(std::string_view name, std::optional<std::uint16_t> id);
  // Returns the rows of the histogram with a duration, or those without.
  std::vector<Summary::EventRow> events(bool timed) const;
  void ticks(std::uint64_t value) { time_.right(out_, value, kTicksWidth); }
  void column(std::string_view text, std::size_t width) { out_.right(text, width); }
  void put_percent(std::uint64_t part, std::uint64_t whole);
  std::vector<CpuState> states_shown() const;

  // Of the block of system calls, whose rows are no table's.
  struct CallWidths {
    std::size_t name, ticks;
    bool code;             // the column is there
    bool extremes_behind;  // the shortest and the longest call stand in the call's line
  };
  static CallWidths call_widths(std::size_t columns);

  TextWriter& out_;
  const CallWidths widths_ = call_widths(out_.columns());
  const Summary& s_;
  const Analysis& a_;
  const TimeFormat& time_;
};

void Report::title(std::string_view text) {
  out_.put('\n');
  out_.put(text);
  out_.put('\n');
}

void Report::code(std::optional<std::uint16_t> code) {
  out_.put(' ');
  if (code) {
    out_.hex_digits(*code, 4);
  } else {
    out_.put("   -");
  }
}

// columns: of the terminal; 0: there is none.
Report::CallWidths Report::call_widths(std::size_t columns) {
  constexpr std::size_t kLine = kNameWidth + 5 + 2 * kTicksWidth + kCountWidth + kPercentWidth;
  constexpr std::size_t kExtremes = 36;
  if (columns > 0 && columns < kLine) return {28, 11, false, false};
  return {kNameWidth, kTicksWidth, true, columns == 0 || columns >= kLine + kExtremes};
}

void Report::call_name(std::string_view name, std::optional<std::uint16_t> id) {
  TextWriter safe;
  safe.escaped(name);
  out_.left(safe.view(), widths_.name);
  if (widths_.code) code(id);
}

std::vector<Summary::EventRow> Report::events(bool timed) const {
  std::vector<Summary::EventRow> rows;
  std::ranges::copy_if(s_.histogram, std::back_inserter(rows),
                       [=](const auto& row) { return row.timed == timed; });
  return rows;
}

void Report::put_percent(std::uint64_t part, std::uint64_t whole) {
  TextWriter number;
  number.decimal(percent(part, whole), 2);
  number.put('%');
  out_.right(number.view(), kPercentWidth);
}

// The events with a duration, and the sum of their self times below them.
void Report::histogram() {
  using Row = Summary::EventRow;
  std::uint64_t whole = 0;
  for (const Row& row : s_.histogram) whole += row.ticks;
  const std::vector<Row> rows = events(true);
  TableOf<Row> table(rows);
  add_name(table);
  table.add({.title = std::string(time_.title()), .width = kTicksWidth},
            [](const Row& row) { return Ticks{row.ticks}; });
  table.add({.title = "Count", .width = kCountWidth},
            [](const Row& row) { return row.each ? Cell(row.count) : Cell(kBlank); });
  const auto each = [&](const char* name, unsigned spare, auto value) {
    table.add({.title = name, .width = kTicksWidth, .spare = spare}, [value](const Row& row) {
      if (!row.each) return Cell(kBlank);
      return row.each->count == 0 ? Cell(kNone) : Cell(Ticks{value(*row.each)});
    });
  };
  each("Average", 0, [](const Spread& spread) { return spread.sum / spread.count; });
  each("Min", 2, [](const Spread& spread) { return spread.min; });
  each("Max", 1, [](const Spread& spread) { return spread.max; });
  table.add({.title = "Percent", .width = kPercentWidth},
            [=](const Row& row) { return Percent{percent(row.ticks, whole)}; });
  // On a terminal they take what is left of it.
  constexpr std::size_t kFewest = 10, kBefore = 115;
  const std::size_t room = out_.columns() > kBefore ? out_.columns() - kBefore : 0;
  const double per_star = out_.columns() == 0 ? kPercentPerStar
                          : room < kFewest    ? 1000
                                              : 100 / static_cast<double>(room);
  table.add({.left = true, .separated = true, .spare = 4}, [=](const Row& row) {
    const auto stars = std::lround(std::min(percent(row.ticks, whole), 100.0) / per_star);
    return stars > 0 ? Cell(std::string(static_cast<std::size_t>(stars), '*')) : Cell(kBlank);
  });
  table.footer({std::string("Total elapsed"), kBlank, Ticks{whole}, kBlank, kBlank, kBlank, kBlank,
                Percent{percent(whole, whole)}, kBlank});
  title("Where the CPUs' time went: own time, without what nested in it");
  write_text(out_, table, time_);
}

void Report::points() {
  const std::vector<Summary::EventRow> rows = events(false);
  if (rows.empty()) return;
  TableOf<Summary::EventRow> table(rows);
  add_name(table);
  table.add({.title = "Count", .width = kTicksWidth}, [](const auto& row) { return row.count; });
  title("Events without a duration");
  write_text(out_, table, time_);
}

void Report::durations() {
  if (s_.durations.empty()) return;
  title("How long each took, from entry to exit (percentiles within 1/64)");
  write_text(out_, durations_table(s_), time_);
}

// Rows: the parts nested in the call, the call ONLY, and the whole.
void Report::call(const Summary::CallRow& row) {
  const auto line = [&](std::string_view name, std::optional<std::uint16_t> id, std::uint64_t count,
                        std::uint64_t sum) {
    call_name(name, id);
    time_.right(out_, sum, widths_.ticks);
    out_.right(count, kCountWidth);
    time_.right(out_, count == 0 ? 0 : sum / count, widths_.ticks);
    put_percent(sum, row.total.sum);
  };
  out_.put('\n');
  if (row.total.count > 0) {
    for (const Summary::Part& part : row.parts) {
      line("  " + part.name, part.code, part.count, part.ticks);
      out_.put('\n');
    }
    line(row.name + " ONLY", row.code, row.total.count, row.self);
    out_.put('\n');
    line(row.name, row.code, row.total.count, row.total.sum);
    out_.put(widths_.extremes_behind ? "  min " : "\n  min ");
    time_.put(out_, row.total.min);
    out_.put(" max ");
    time_.put(out_, row.total.max);
  } else {
    call_name(row.name, row.code);
  }
  out_.put('\n');
  // At a gap, and if the recorded layers change, open calls are dropped, because their exits may be
  // missing.
  const bool gaps = !s_.losses.empty();
  const std::pair<Outcome, const char*> others[] = {
      {Outcome::no_entry, "entry before the recording"},
      {Outcome::no_exit, "no exit seen"},
      {Outcome::in_gap, gaps ? "open across a gap" : "open when layers were switched"},
      {Outcome::never_returns, "does not return"},
      {Outcome::fork_return, "returns in the child"},
  };
  bool first = true;
  for (const auto& [outcome, text] : others) {
    const std::uint64_t count = row.outcomes[static_cast<std::size_t>(outcome)];
    if (count == 0) continue;
    out_.put(first ? "  without a duration: " : ", ");
    first = false;
    out_.put(fmt::format("{}: {}", text, count));
  }
  if (!first) out_.put('\n');
}

void Report::calls() {
  if (s_.calls.empty()) return;
  title("System calls: what each spent, from entry to exit, in what");
  out_.left("Name", widths_.name);
  if (widths_.code) out_.put(" Code");
  column(time_.title(), widths_.ticks);
  column("Count", kCountWidth);
  column("Average", widths_.ticks);
  column("Percent", kPercentWidth);
  out_.put('\n');
  for (const Summary::CallRow& row : s_.calls) call(row);
  const auto alone = [&](Outcome outcome, const char* text) {
    const std::uint64_t count = s_.exits_alone[static_cast<std::size_t>(outcome)];
    if (count == 0) return;
    out_.put('\n' + counted(count, "return") + text + '\n');
  };
  alone(Outcome::no_entry, " of calls whose entry lies before the recording");
  alone(Outcome::in_gap, s_.losses.empty()
                             ? " of calls whose entry lies before a switch of the layers"
                             : " of calls whose entry was lost in a gap or lies before one");
  alone(Outcome::refused, " of calls that seccomp refused, or a tracer skipped, before they began");
  alone(Outcome::fork_return, " in children of forks whose call is not known");
}

std::vector<CpuState> Report::states_shown() const {
  std::vector<CpuState> shown;
  for (std::size_t i = 0; i < kCpuStates; i++) {
    const auto state = static_cast<CpuState>(i);
    const bool always = state == CpuState::idle || state == CpuState::user ||
                        state == CpuState::system || state == CpuState::irq ||
                        state == CpuState::softirq;
    if (always || s_.times[i] > 0) shown.push_back(state);
  }
  return shown;
}

void Report::processes() {
  if (s_.processes.empty()) return;
  title("Processes: time on the CPUs (interrupts: those that interrupted the process)");
  write_text(out_, processes_table(s_, states_shown()), time_);
}

// Two lines for each CPU: the times, and their shares of the CPU's time.
void Report::cpus() {
  struct Line {
    std::string name;
    const CpuStateTimes& times;
    std::optional<std::uint64_t> whole;
  };
  std::vector<Line> lines;
  const auto add = [&](const std::string& name, const CpuStateTimes& times) {
    lines.push_back({name, times, {}});
    lines.push_back({"", times, std::accumulate(times.begin(), times.end(), std::uint64_t{0})});
  };
  for (const Summary::CpuRow& row : s_.cpus) add(std::to_string(row.cpu), row.times);
  if (s_.cpus.size() > 1) add("all", s_.times);
  TableOf<Line> table(lines);
  table.add({.title = "CPU", .width = 5, .left = true}, [](const Line& line) { return line.name; });
  for (const CpuState state : states_shown()) {
    table.add({.title = std::string(state_title(state)), .width = kTicksWidth},
              [i = static_cast<std::size_t>(state)](const Line& line) {
                const std::uint64_t ticks = line.times[i];
                return line.whole ? Cell(Percent{percent(ticks, *line.whole)}) : Cell(Ticks{ticks});
              });
  }
  title("CPUs");
  write_text(out_, table, time_);
}

void Report::load() {
  title("The recording's own load");
  const auto line = [&](std::string_view name, std::uint64_t sum) {
    out_.left(name, kNameWidth + 5);
    ticks(sum);
    put_percent(sum, s_.cpu_ticks);
    out_.put(" of all CPUs' time\n");
  };
  if (a_.tasks().filtered()) {
    out_.put("not recorded: the filter leaves the recorder out\n");
  } else if (s_.has_switches) {
    line("the drain (thread fkt_drain)", s_.drain_ticks);
    line(fmt::format("fkt_record (pid {})", a_.info().command.recorder_pid), s_.recorder_ticks);
  } else {
    out_.put("not known: layer process was not recorded\n");
  }
  if (!a_.info().totals || a_.info().checkpoint) return;  // these totals are of the whole recording
  const Totals& totals = *a_.info().totals;
  out_.left("the drain by its own count", kNameWidth + 5);
  ticks(static_cast<std::uint64_t>(static_cast<double>(totals.drain_ns) *
                                   a_.info().clocks.ticks_per_second() / 1e9));
  out_.put(" for " + counted(totals.pages, "page") + ", " + counted(totals.bytes, "byte"));
  if (totals.events > 0) {
    out_.put(", ");
    out_.decimal(static_cast<double>(totals.bytes) / static_cast<double>(totals.events), 2);
    out_.put(" per event");
  }
  out_.put('\n');
}

}  // namespace

void write_report(TextWriter& out, const Summary& summary, const Analysis& analysis,
                  const TimeFormat& time) {
  write_report_head(out, summary, analysis, time);
  Report(out, summary, analysis, time).write();
}

void write_counts(TextWriter& out, const std::vector<Summary::Count>& counts) {
  for (const Summary::Count& row : counts) {
    out.number(row.count);
    out.put('\t');
    out.escaped(row.layer);
    out.put('\t');
    out.escaped(row.name);
    out.put('\n');
  }
}

}  // namespace fkt
