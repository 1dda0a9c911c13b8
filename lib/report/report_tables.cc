// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/report_tables.h"

#include <algorithm>

namespace fkt {
namespace {

using In = Column::In;

Column count_column(std::string title, std::string_view key, std::size_t width = kCountWidth) {
  return {.title = std::move(title), .key = key, .width = width};
}
Column ticks_column(std::string title, std::string_view key, unsigned in = In::kAll) {
  return {.title = std::move(title), .key = key, .width = kTicksWidth, .in = in};
}
Column name_column() {
  return {.title = "Name", .key = "name", .width = kNameWidth, .left = true};
}
Column code_column(unsigned in = In::kAll) {
  return {.title = "Code", .key = "code", .width = 4, .separated = true, .spare = 3, .in = in};
}
Column data_column(std::string_view key, std::string_view group = {}, unsigned in = In::kData) {
  return {.key = key, .group = group, .in = in};
}

// Adds the columns of a spread, in JSON as an object; `of` returns the row's spread, or nullptr if
// it has none. CSV has neither its count nor its sum.
template <class Row, class Of>
void add_spread(TableOf<Row>& table, std::string_view group, Of of) {
  const auto figure = [&](std::string_view key, unsigned in, auto cell) {
    table.add(data_column(key, group, in), [of, cell](const Row& row) {
      const Spread* spread = of(row);
      return spread == nullptr ? Cell(kNone) : cell(*spread);
    });
  };
  figure("count", In::kJson, [](const Spread& s) { return Cell(s.count); });
  figure("time", In::kJson,
         [](const Spread& s) { return s.count == 0 ? Cell(s.sum) : Cell(Ticks{s.sum}); });
  const auto each = [](std::uint64_t count, std::uint64_t ticks) {
    return count == 0 ? Cell(kNone) : Cell(Ticks{ticks});
  };
  figure("average", In::kData,
         [=](const Spread& s) { return each(s.count, s.count == 0 ? 0 : s.sum / s.count); });
  figure("min", In::kData, [=](const Spread& s) { return each(s.count, s.min); });
  figure("max", In::kData, [=](const Spread& s) { return each(s.count, s.max); });
}

std::shared_ptr<const Table> parts_of(const Summary::CallRow& call) {
  TableOf<Summary::Part> table(call.parts);
  table.add(data_column("name"), [](const auto& part) { return part.name; });
  table.add(data_column("count"), [](const auto& part) { return part.count; });
  table.add(data_column("time"), [](const auto& part) { return Ticks{part.ticks}; });
  return std::make_shared<const Table>(std::move(table));
}

}  // namespace

Cell code_cell(std::optional<std::uint16_t> code) {
  return code ? Cell(EventCode{*code}) : Cell(kUnknown);
}

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

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

Table gaps_table(const Summary& summary, const TimeFormat& time) {
  TableOf<Summary::CpuLoss> table(summary.losses);
  table.add(count_column("CPU", "cpu", 3), [](const auto& row) { return row.cpu; });
  table.add(count_column("Gaps", "gaps"), [](const auto& row) { return row.gaps; });
  table.add(count_column("Lost", "lost"), [](const auto& row) { return row.lost; });
  table.add(ticks_column(std::string(time.title()), "time"),
            [](const auto& row) { return Ticks{row.ticks}; });
  return table;
}

// An event without a duration has only a count; a CPU state has only a time.
Table histogram_table(const Summary& summary) {
  using Row = Summary::EventRow;
  TableOf<Row> table(summary.histogram);
  table.add(data_column("name"), [](const Row& row) { return row.name; });
  table.add(data_column("code"), [](const Row& row) { return code_cell(row.code); });
  table.add(data_column("time"),
            [](const Row& row) { return row.timed ? Cell(Ticks{row.ticks}) : Cell(kNone); });
  table.add(data_column("count"),
            [](const Row& row) { return row.timed && !row.each ? Cell(kNone) : Cell(row.count); });
  add_spread(table, "each", [](const Row& row) { return row.each ? &*row.each : nullptr; });
  return table;
}

Table durations_table(const Summary& summary) {
  using Row = Summary::DurationRow;
  TableOf<Row> table(summary.durations);
  table.add(name_column(), [](const Row& row) { return row.name; });
  table.add(code_column(), [](const Row& row) { return code_cell(row.code); });
  table.add(count_column("Count", "count"), [](const Row& row) { return row.total.count; });
  table.add(data_column("time"), [](const Row& row) { return Ticks{row.total.sum}; });
  const auto ticks = [&](const char* title, std::string_view key, auto value,
                         unsigned in = In::kAll, unsigned spare = 0) {
    Column column = ticks_column(title, key, in);
    column.spare = spare;
    table.add(std::move(column), [value](const Row& row) { return Ticks{value(row)}; });
  };
  const auto longest = [](const Row& row) { return row.total.max; };
  ticks("Average", "average", [](const Row& row) { return row.total.sum / row.total.count; });
  ticks(
      "Min", "min", [](const Row& row) { return row.total.min; }, In::kAll, 2);
  ticks("", "max", longest, In::kJson);
  ticks("p50", "p50", [](const Row& row) { return row.p50; });
  ticks(
      "p90", "p90", [](const Row& row) { return row.p90; }, In::kAll, 1);
  ticks("p99", "p99", [](const Row& row) { return row.p99; });
  ticks("Max", "max", longest, In::kText | In::kCsv);
  return table;
}

Table calls_table(const Summary& summary) {
  using Row = Summary::CallRow;
  TableOf<Row> table(summary.calls);
  table.add(data_column("name"), [](const Row& row) { return row.name; });
  table.add(data_column("code"), [](const Row& row) { return code_cell(row.code); });
  table.add(data_column("entries"), [](const Row& row) { return row.entries; });
  for (std::size_t i = 0; i < kOutcomes; i++) {
    table.add(data_column(outcome_key(i), "outcomes"),
              [i](const Row& row) { return row.outcomes[i]; });
  }
  table.add(data_column("time", {}, In::kCsv), [](const Row& row) { return Ticks{row.total.sum}; });
  add_spread(table, "total", [](const Row& row) { return &row.total; });
  table.add(data_column("only"), [](const Row& row) { return Ticks{row.self}; });
  table.add(data_column("parts", {}, In::kJson), parts_of);
  return table;
}

Table processes_table(const Summary& summary, const std::vector<CpuState>& shown) {
  using Row = Summary::ProcessRow;
  TableOf<Row> table(summary.processes);
  table.add({.title = "Name", .key = "name", .width = kTaskWidth, .left = true},
            [](const Row& row) { return row.name; });
  table.add(count_column("Pid", "pid", 8), [](const Row& row) { return row.pid; });
  Column threads = count_column("Threads", "threads", 8), runs = count_column("Runs", "runs");
  threads.spare = 2;
  runs.spare = 1;
  table.add(std::move(threads), [](const Row& row) { return row.threads; });
  table.add(std::move(runs), [](const Row& row) { return row.runs; });
  table.add(data_column("kernel"), [](const Row& row) { return row.kernel; });
  for (std::size_t i = 0; i < kCpuStates; i++) {
    const auto state = static_cast<CpuState>(i);
    const bool text = state != CpuState::unknown && std::ranges::count(shown, state) > 0;
    Column column =
        ticks_column(std::string(state_title(state)), state_key(i), text ? In::kAll : In::kData);
    column.group = "times";
    table.add(std::move(column), [i](const Row& row) { return Ticks{row.times[i]}; });
  }
  table.add({.title = "Percent", .width = kPercentWidth, .in = In::kText},
            [whole = summary.cpu_ticks](const Row& row) {
              std::uint64_t sum = 0;
              for (const std::uint64_t ticks : row.times) sum += ticks;
              return Percent{percent(sum, whole)};
            });
  return table;
}

Table cpus_table(const Summary& summary) {
  using Row = Summary::CpuRow;
  TableOf<Row> table(summary.cpus);
  table.add(data_column("cpu"), [](const Row& row) { return row.cpu; });
  for (std::size_t i = 0; i < kCpuStates; i++) {
    table.add(data_column(state_key(i), "times"),
              [i](const Row& row) { return Ticks{row.times[i]}; });
  }
  return table;
}

Table counts_table(const std::vector<Summary::Count>& counts) {
  TableOf<Summary::Count> table(counts);
  table.add(data_column("count"), [](const auto& row) { return row.count; });
  table.add(data_column("layer"), [](const auto& row) { return row.layer; });
  table.add(data_column("name"), [](const auto& row) { return row.name; });
  return table;
}

}  // namespace fkt
