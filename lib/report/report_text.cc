// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/report_text.h"

#include <cmath>

#include "lib/base/text.h"
#include "lib/report/report_head.h"

namespace fkt {
namespace {

constexpr std::size_t kName = 30;  // column widths
constexpr std::size_t kTask = 28;  // names of kworkers are long
constexpr std::size_t kTicks = 15;
constexpr std::size_t kCount = 10;
constexpr double kPercentPerStar = 2.5;  // as in the 2005 report's figure 4

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
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
  void ticks(std::uint64_t value) { time_.right(out_, value, kTicks); }
  void column(std::string_view text, std::size_t width) { out_.right(text, width); }
  void put_percent(std::uint64_t part, std::uint64_t whole);
  void each(const Spread& spread);
  std::vector<CpuState> states_shown() const;

  TextWriter& out_;
  const Summary& s_;
  const Analysis& a_;
  const TimeFormat& time_;
};

std::string_view state_title(CpuState state) {
  switch (state) {
    case CpuState::idle:
      return "Idle";
    case CpuState::user:
      return "User";
    case CpuState::system:
      return "System";
    case CpuState::irq:
      return "Interrupts";
    case CpuState::softirq:
      return "Softirqs";
    case CpuState::running:
      return "User or system";
    case CpuState::others:
      return "Idle+others";
    case CpuState::unknown:
      return "Unknown";
  }
  return "";
}

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

void Report::put_percent(std::uint64_t part, std::uint64_t whole) {
  TextWriter number;
  number.decimal(percent(part, whole), 2);
  number.put('%');
  out_.right(number.view(), 9);
}

void Report::each(const Spread& spread) {
  if (spread.count == 0) {
    for (int i = 0; i < 3; i++) column("-", kTicks);
    return;
  }
  ticks(spread.sum / spread.count);
  ticks(spread.min);
  ticks(spread.max);
}

void Report::histogram() {
  std::uint64_t whole = 0;
  for (const auto& row : s_.histogram) whole += row.ticks;
  title("Where the CPUs' time went: own time, without what nested in it");
  out_.left("Name", kName);
  out_.put(" Code");
  column(time_.title(), kTicks);
  for (const char* name : {"Count"}) column(name, kCount);
  for (const char* name : {"Average", "Min", "Max"}) column(name, kTicks);
  column("Percent", 9);
  out_.put('\n');
  for (const Summary::EventRow& row : s_.histogram) {
    if (!row.timed) continue;
    out_.left(row.name, kName);
    code(row.code);
    ticks(row.ticks);
    if (row.each) {
      out_.right(row.count, kCount);
      each(*row.each);
    } else {
      column("", kCount + 3 * kTicks);
    }
    put_percent(row.ticks, whole);
    const auto stars =
        static_cast<std::size_t>(std::lround(percent(row.ticks, whole) / kPercentPerStar));
    if (stars > 0) out_.put(' ');
    out_.fill(stars, '*');
    out_.put('\n');
  }
  out_.left("Total elapsed", kName);
  column("", 5);
  ticks(whole);
  column("", kCount + 3 * kTicks);
  put_percent(whole, whole);
  out_.put('\n');
}

void Report::points() {
  bool any = false;
  for (const Summary::EventRow& row : s_.histogram) {
    if (row.timed) continue;
    if (!any) {
      title("Events without a duration");
      out_.left("Name", kName);
      out_.put(" Code");
      column("Count", kTicks);
      out_.put('\n');
    }
    any = true;
    out_.left(row.name, kName);
    code(row.code);
    out_.right(row.count, kTicks);
    out_.put('\n');
  }
}

void Report::durations() {
  if (s_.durations.empty()) return;
  title("How long each took, from entry to exit (percentiles within 1/64)");
  out_.left("Name", kName);
  out_.put(" Code");
  column("Count", kCount);
  for (const char* name : {"Average", "Min", "p50", "p90", "p99", "Max"}) column(name, kTicks);
  out_.put('\n');
  for (const Summary::DurationRow& row : s_.durations) {
    out_.left(row.name, kName);
    code(row.code);
    out_.right(row.total.count, kCount);
    ticks(row.total.sum / row.total.count);
    for (const std::uint64_t t : {row.total.min, row.p50, row.p90, row.p99, row.total.max}) {
      ticks(t);
    }
    out_.put('\n');
  }
}

// As in figure 5 of the 2005 report: the parts nested in the call, the call ONLY, and the whole.
void Report::call(const Summary::CallRow& row) {
  const auto line = [&](std::string_view name, std::optional<std::uint16_t> id, std::uint64_t count,
                        std::uint64_t sum) {
    out_.left(name, kName);
    code(id);
    ticks(sum);
    out_.right(count, kCount);
    ticks(count == 0 ? 0 : sum / count);
    put_percent(sum, row.total.sum);
  };
  out_.put('\n');
  if (row.total.count > 0) {
    for (const Summary::Part& part : row.parts) {
      line("  " + part.name, part.code, part.count, part.ticks);
      out_.put('\n');
    }
    line(row.name + " ONLY", row.code, row.total.count, row.own);
    out_.put('\n');
    line(row.name, row.code, row.total.count, row.total.sum);
    out_.put("  min ");
    time_.put(out_, row.total.min);
    out_.put(" max ");
    time_.put(out_, row.total.max);
  } else {
    out_.left(row.name, kName);
    code(row.code);
  }
  out_.put('\n');
  // A call whose exit may be missing is given up at a gap and where the recorded layers change.
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
    out_.put(std::string(text) + ": " + std::to_string(count));
  }
  if (!first) out_.put('\n');
}

void Report::calls() {
  if (s_.calls.empty()) return;
  title("System calls: what each spent, from entry to exit, in what");
  out_.left("Name", kName);
  out_.put(" Code");
  column(time_.title(), kTicks);
  column("Count", kCount);
  column("Average", kTicks);
  column("Percent", 9);
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
  const std::vector<CpuState> shown = states_shown();
  title("Processes: time on the CPUs (interrupts: those that interrupted the process)");
  out_.left("Name", kTask);
  column("Pid", 8);
  column("Threads", 8);
  column("Runs", kCount);
  for (const CpuState state : shown) {
    if (state != CpuState::unknown) column(state_title(state), kTicks);
  }
  column("Percent", 9);
  out_.put('\n');
  for (const Summary::ProcessRow& row : s_.processes) {
    std::uint64_t sum = 0;
    for (const std::uint64_t t : row.times) sum += t;
    TextWriter name;
    name.escaped(row.name);
    out_.left(name.view(), kTask);
    out_.right(row.pid, 8);
    out_.right(row.threads, 8);
    out_.right(row.runs, kCount);
    for (const CpuState state : shown) {
      if (state != CpuState::unknown) ticks(row.times[static_cast<std::size_t>(state)]);
    }
    put_percent(sum, s_.cpu_ticks);
    out_.put('\n');
  }
}

void Report::cpus() {
  const std::vector<CpuState> shown = states_shown();
  title("CPUs");
  out_.left("CPU", 5);
  for (const CpuState state : shown) column(state_title(state), kTicks);
  out_.put('\n');
  const auto line = [&](const std::string& name, const CpuStateTimes& times) {
    out_.left(name, 5);
    for (const CpuState state : shown) ticks(times[static_cast<std::size_t>(state)]);
    out_.put('\n');
    std::uint64_t sum = 0;
    for (const std::uint64_t t : times) sum += t;
    out_.left("", 5);
    for (const CpuState state : shown) {
      TextWriter number;
      number.decimal(percent(times[static_cast<std::size_t>(state)], sum), 2);
      number.put('%');
      out_.right(number.view(), kTicks);
    }
    out_.put('\n');
  };
  for (const Summary::CpuRow& row : s_.cpus) line(std::to_string(row.cpu), row.times);
  if (s_.cpus.size() > 1) line("all", s_.times);
}

void Report::load() {
  title("The recording's own load");
  const auto line = [&](std::string_view name, std::uint64_t sum) {
    out_.left(name, kName + 5);
    ticks(sum);
    put_percent(sum, s_.cpu_ticks);
    out_.put(" of all CPUs' time\n");
  };
  if (a_.tasks().filtered()) {
    out_.put("not recorded: the filter leaves the recorder out\n");
  } else if (s_.has_switches) {
    line("the drain (thread fkt_drain)", s_.drain_ticks);
    line("fkt_record (pid " + std::to_string(a_.info().command.recorder_pid) + ")",
         s_.recorder_ticks);
  } else {
    out_.put("not known: layer process was not recorded\n");
  }
  if (!a_.info().totals || a_.info().checkpoint) return;  // these totals are of the whole recording
  const Totals& totals = *a_.info().totals;
  out_.left("the drain by its own count", kName + 5);
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
