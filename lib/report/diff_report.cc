// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/diff_report.h"

#include <algorithm>
#include <cmath>

#include "lib/base/table.h"

namespace fkt {
namespace {

using In = Column::In;

// The times in a diff are nanoseconds.
TimeFormat format(TimeUnit unit) {
  return TimeFormat(unit, 1e9);
}

std::string change(const DiffRow& row) {
  if (row.before.whole == 0) return row.before.count == 0 ? "new" : "-";
  if (row.after.whole == 0) return row.after.count == 0 ? "gone" : "-";
  if (row.before.average == 0) return "-";
  const auto before = static_cast<double>(row.before.average);
  const double percent = 100 * (static_cast<double>(row.after.average) - before) / before;
  TextWriter out;
  if (percent >= 0) out.put('+');
  out.decimal(percent, 1);
  out.put('%');
  return std::string(out.view());
}

// Values below 0.0001 are shown as such: their further digits say nothing.
std::string probability(const std::optional<double>& p) {
  if (!p) return "-";
  if (*p < 0.0001) return "<0.0001";
  TextWriter out;
  out.decimal(*p, 4);
  return std::string(out.view());
}

// "61.5%"
std::string share(double slower) {
  TextWriter out;
  out.decimal(100 * slower, 1);
  out.put('%');
  return std::string(out.view());
}

Cell optional_decimal(const std::optional<double>& value) {
  return value ? Cell(Decimal{*value, 6}) : Cell(kUnknown);
}

// Returns the value per second of the recording.
std::optional<double> rate(double value, const DiffSide& side) {
  if (!side.duration || *side.duration == 0) return {};
  return value * 1e9 / static_cast<double>(*side.duration);
}

Cell call_rate(std::uint64_t count, const DiffSide& side, int digits) {
  const auto calls = rate(static_cast<double>(count), side);
  return calls ? Cell(Decimal{*calls, digits}) : Cell(kUnknown);
}

// Returns whether the durations of the two differ so much that their sums cannot be compared.
bool unequal(const DiffReport& report) {
  if (!report.before.duration || !report.after.duration) return false;
  const auto [less, more] = std::minmax(*report.before.duration, *report.after.duration);
  return static_cast<double>(more) > 1.1 * static_cast<double>(less);
}

// Writes which figures are rates, or that rates can be shown.
void write_lengths(TextWriter& out, const DiffReport& report) {
  if (!report.per_second && !unequal(report)) return;
  const TimeFormat time = format(report.unit);
  const auto length = [&](const char* title, const DiffSide& side) {
    out.put(title);
    time.put(out, *side.duration);
    if (report.unit != TimeUnit::readable) out.put(' ' + std::string(time.unit()));
  };
  length("Recorded: old ", report.before);
  length(", new ", report.after);
  out.put(report.per_second ? "; calls, change and extra time per second\n\n"
                            : "; --per-second compares rates\n\n");
}

Table diff_table(const DiffReport& report) {
  constexpr std::size_t kName = 25, kCount = 9, kTime = 12, kShare = 8;
  using Row = DiffRow;
  TableOf<Row> table(report.rows);
  const bool rates = report.per_second;
  table.add({.title = "Function", .key = "function", .width = kName, .left = true, .fitted = true},
            [](const Row& row) { return row.name; });
  const auto count = [&](const char* title, std::string_view key, unsigned in, auto value) {
    table.add({.title = title, .key = key, .width = kCount + 1, .in = in}, value);
  };
  const auto ticks = [&](const char* title, std::string_view key, auto value, unsigned in) {
    table.add({.title = title, .key = key, .width = kTime + 1, .in = in},
              [value](const Row& row) { return Ticks{value(row)}; });
  };
  const unsigned counts_in = rates ? In::kData : In::kAll;
  count("Old", "old_count", counts_in, [](const Row& row) { return Cell(row.before.count); });
  count("New", "new_count", counts_in, [](const Row& row) { return Cell(row.after.count); });
  const auto per_second = [&](const char* title, std::string_view key, auto cell) {
    if (rates) count(title, {}, In::kText, [=](const Row& row) { return cell(row, 1); });
    count("", key, In::kData, [=](const Row& row) { return cell(row, 6); });
  };
  per_second("Old/s", "old_rate", [&report](const Row& row, int digits) {
    return call_rate(row.before.count, report.before, digits);
  });
  per_second("New/s", "new_rate", [&report](const Row& row, int digits) {
    return call_rate(row.after.count, report.after, digits);
  });
  ticks(
      "", "old_time", [](const Row& row) { return row.before.time; }, In::kData);
  ticks(
      "", "new_time", [](const Row& row) { return row.after.time; }, In::kData);
  ticks(
      "Old average", "old_average", [](const Row& row) { return row.before.average; }, In::kAll);
  ticks(
      "New average", "new_average", [](const Row& row) { return row.after.average; }, In::kAll);
  ticks(
      "", "old_p50", [](const Row& row) { return row.before.p50; }, In::kData);
  ticks(
      "", "new_p50", [](const Row& row) { return row.after.p50; }, In::kData);
  table.add({.title = "Change", .width = kTime + 1, .in = In::kText}, change);
  table.add({.title = "Total change", .key = "total_change", .width = kTime + 1, .in = counts_in},
            [](const Row& row) { return SignedTicks{row.change}; });
  table.add({.title = "Extra time", .key = "extra", .width = kTime + 1, .in = counts_in},
            [](const Row& row) { return SignedTicks{row.extra}; });
  if (rates) {
    table.add({.title = "Change/s", .width = kTime + 1, .in = In::kText}, [&](const Row& row) {
      const double old_time = *rate(static_cast<double>(row.before.time), report.before);
      const double new_time = *rate(static_cast<double>(row.after.time), report.after);
      return SignedTicks{std::llround(new_time - old_time)};
    });
    table.add({.title = "Extra/s", .width = kTime + 1, .in = In::kText}, [&](const Row& row) {
      // Functions that only the old recording has: rate of the old recording.
      const DiffSide& of = row.after.whole == 0 ? report.before : report.after;
      const double extra = *rate(static_cast<double>(row.extra), of);
      return SignedTicks{std::llround(extra)};
    });
  }
  table.add({.title = "Slower", .width = kShare + 1, .in = In::kText},
            [](const Row& row) { return row.slower ? Cell(share(*row.slower)) : Cell(kUnknown); });
  table.add({.title = "p", .width = kShare + 1, .in = In::kText},
            [](const Row& row) { return probability(row.p); });
  table.add({.left = true, .separated = true, .in = In::kText}, [](const Row& row) {
    const std::string marks =
        std::string(row.significant ? "*" : "") + (row.count_significant ? "#" : "");
    return marks.empty() ? Cell(kBlank) : Cell(marks);
  });
  table.add({.key = "slower_share", .in = In::kData},
            [](const Row& row) { return optional_decimal(row.slower); });
  table.add({.key = "p_value", .in = In::kData},
            [](const Row& row) { return optional_decimal(row.p); });
  table.add({.key = "significant", .in = In::kData},
            [](const Row& row) { return row.significant; });
  table.add({.key = "count_p_value", .in = In::kData}, [](const Row& row) {
    return Decimal{row.count_p, 6};
  });
  table.add({.key = "count_significant", .in = In::kData},
            [](const Row& row) { return row.count_significant; });
  return table;
}

TableOf<Unlike> unlike_table(const std::vector<Unlike>& differences) {
  TableOf<Unlike> table(differences);
  const auto column = [&](const char* title, std::string_view key, auto value) {
    table.add({.title = title, .key = key, .left = true, .separated = true, .fitted = true},
              [value](const Unlike& one) { return one.*value; });
  };
  column("Unlike", "what", &Unlike::what);
  column("Old", "old", &Unlike::before);
  column("New", "new", &Unlike::after);
  return table;
}

}  // namespace

void DiffReport::text(TextWriter& out) const {
  if (!differences.empty()) {
    write_text(out, unlike_table(differences), format(unit));
    out.put('\n');
  }
  write_lengths(out, *this);
  write_text(out, diff_table(*this), format(unit));
}

void DiffReport::json(TextWriter& out) const {
  const TimeFormat time = format(unit);
  JsonReport report(out, time);
  report.members("old", before.name, "new", after.name);
  report.ticks("old_duration", before.duration);
  report.ticks("new_duration", after.duration);
  report.rows("unlike", unlike_table(differences), JsonRows::joined, true);
  report.rows("changes", diff_table(*this), JsonRows::on_lines, true);
}

void DiffReport::csv(TextWriter& out) const {
  write_csv(out, diff_table(*this), format(unit));
}

}  // namespace fkt
