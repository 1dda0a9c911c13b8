// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/histogram_report.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/table.h"

namespace fkt {
namespace {

constexpr std::uint64_t kBar = 50;  // characters of the longest bar

// The figures of all calls, with their names.
std::array<std::pair<std::string_view, std::uint64_t>, 5> figures(const FunctionHistogram& all) {
  return {{{"min", all.min},
           {"p50", all.percentile(50)},
           {"p90", all.percentile(90)},
           {"p99", all.percentile(99)},
           {"max", all.max}}};
}

Table rows_table(std::span<const Histogram::Row> rows, const TimeFormat& time) {
  constexpr std::size_t kTime = 16, kCount = 10;
  using Row = Histogram::Row;
  TableOf<Row> table(rows);
  table.add({.title = "From (" + std::string(time.title()) + ")", .key = "from", .width = kTime},
            [](const Row& row) { return Ticks{row.from}; });
  table.add({.title = "below", .key = "to", .width = kTime},
            [](const Row& row) { return Ticks{row.to}; });
  table.add({.title = "Count", .key = "count", .width = kCount},
            [](const Row& row) { return row.count; });
  std::uint64_t most = 1;
  for (const Row& row : rows) most = std::max(most, row.count);
  table.add({.left = true, .separated = true, .in = Column::kText}, [most](const Row& row) {
    // Rounded up, so that a single call is visible.
    const std::uint64_t bar = (row.count * kBar + most - 1) / most;
    return bar > 0 ? Cell(std::string(bar, '*')) : Cell(kBlank);
  });
  return table;
}

}  // namespace

void write_histogram(TextWriter& out, const FunctionHistogram& histogram, const TimeFormat& time) {
  out.escaped(histogram.name);
  out.put(": ");
  out.number(histogram.count);
  out.put(histogram.count == 1 ? " call" : " calls");
  if (histogram.functions > 1) {
    out.put(" of ");
    out.number(histogram.functions);
    out.put(" functions");
  }
  for (const auto& [name, ticks] : figures(histogram)) {
    out.put(", ");
    out.put(name);
    out.put(' ');
    time.put(out, ticks);
  }
  out.put("\n\n");
  const std::vector<Histogram::Row> rows = histogram.times.rows(time.ticks_of_round());
  write_text(out, rows_table(rows, time), time);
}

void write_histogram_json(TextWriter& out, const FunctionHistogram& histogram,
                          const TimeFormat& time) {
  JsonReport report(out, time);
  report.members("function", histogram.name, "functions", histogram.functions, "count",
                 histogram.count);
  for (const auto& [name, ticks] : figures(histogram)) report.ticks(name, ticks);
  const std::vector<Histogram::Row> rows = histogram.times.rows(time.ticks_of_round());
  report.rows("buckets", rows_table(rows, time), JsonRows::joined, false);
}

void write_histogram_csv(TextWriter& out, const FunctionHistogram& histogram,
                         const TimeFormat& time) {
  const std::vector<Histogram::Row> rows = histogram.times.rows(time.ticks_of_round());
  write_csv(out, rows_table(rows, time), time);
}

}  // namespace fkt
