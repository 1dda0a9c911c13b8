// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/diff_report.h"

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

Table diff_table(const std::vector<DiffRow>& rows) {
  constexpr std::size_t kName = 25, kCount = 9, kTime = 12, kShare = 8;
  using Row = DiffRow;
  TableOf<Row> table(rows);
  table.add({.title = "Function", .key = "function", .width = kName, .left = true, .fitted = true},
            [](const Row& row) { return row.name; });
  const auto count = [&](const char* title, std::string_view key, auto value) {
    table.add({.title = title, .key = key, .width = kCount + 1}, value);
  };
  const auto ticks = [&](const char* title, std::string_view key, auto value, unsigned in) {
    table.add({.title = title, .key = key, .width = kTime + 1, .in = in},
              [value](const Row& row) { return Ticks{value(row)}; });
  };
  count("Old", "old_count", [](const Row& row) { return row.before.count; });
  count("New", "new_count", [](const Row& row) { return row.after.count; });
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
  table.add({.title = "Extra time", .key = "extra", .width = kTime + 1},
            [](const Row& row) { return SignedTicks{row.extra}; });
  table.add({.title = "Slower", .width = kShare + 1, .in = In::kText},
            [](const Row& row) { return row.slower ? Cell(share(*row.slower)) : Cell(kUnknown); });
  table.add({.title = "p", .width = kShare + 1, .in = In::kText},
            [](const Row& row) { return probability(row.p); });
  table.add({.left = true, .separated = true, .in = In::kText},
            [](const Row& row) { return row.significant ? Cell(std::string("*")) : Cell(kBlank); });
  table.add({.key = "slower_share", .in = In::kData},
            [](const Row& row) { return optional_decimal(row.slower); });
  table.add({.key = "p_value", .in = In::kData},
            [](const Row& row) { return optional_decimal(row.p); });
  table.add({.key = "significant", .in = In::kData},
            [](const Row& row) { return row.significant; });
  return table;
}

}  // namespace

void write_diff(TextWriter& out, const std::vector<DiffRow>& rows, TimeUnit unit) {
  write_text(out, diff_table(rows), format(unit));
}

void write_diff_json(TextWriter& out, const std::vector<DiffRow>& rows, TimeUnit unit,
                     const std::string& old_name, const std::string& new_name) {
  const TimeFormat time = format(unit);
  JsonReport report(out, time);
  report.text("old", old_name);
  report.text("new", new_name);
  report.rows("changes", diff_table(rows), JsonRows::on_lines, true);
}

void write_diff_csv(TextWriter& out, const std::vector<DiffRow>& rows, TimeUnit unit) {
  write_csv(out, diff_table(rows), format(unit));
}

}  // namespace fkt
