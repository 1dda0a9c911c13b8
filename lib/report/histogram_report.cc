// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/histogram_report.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lib/base/table.h"

namespace fkt {
namespace {

constexpr std::uint64_t kBar = 50;  // characters of the longest bar

// The figures of all calls, with their names.
std::array<std::pair<std::string_view, std::uint64_t>, 5> figures(const FunctionRow& row) {
  return {
      {{"min", row.min}, {"p50", row.p50}, {"p90", row.p90}, {"p99", row.p99}, {"max", row.max}}};
}

Table octaves_table(const FunctionHistogram& histogram, const TimeFormat& time) {
  constexpr std::size_t kTime = 16, kCount = 10;
  using Octave = Histogram::Octave;
  TableOf<Octave> table(histogram.octaves);
  table.add({.title = "From (" + std::string(time.title()) + ")", .key = "from", .width = kTime},
            [](const Octave& octave) { return Ticks{octave.from}; });
  table.add({.title = "below", .key = "to", .width = kTime},
            [](const Octave& octave) { return Ticks{octave.to}; });
  table.add({.title = "Count", .key = "count", .width = kCount},
            [](const Octave& octave) { return octave.count; });
  std::uint64_t most = 1;
  for (const Octave& octave : histogram.octaves) most = std::max(most, octave.count);
  table.add({.left = true, .separated = true, .in = Column::kText}, [most](const Octave& octave) {
    // Rounded up, so that a single call is visible.
    const std::uint64_t bar = (octave.count * kBar + most - 1) / most;
    return bar > 0 ? Cell(std::string(bar, '*')) : Cell(kBlank);
  });
  return table;
}

}  // namespace

void write_histogram(TextWriter& out, const FunctionHistogram& histogram, const TimeFormat& time) {
  const FunctionRow& row = histogram.row;
  out.put(row.name);
  out.put(": ");
  out.number(row.whole);
  out.put(row.whole == 1 ? " call" : " calls");
  for (const auto& [name, ticks] : figures(row)) {
    out.put(", ");
    out.put(name);
    out.put(' ');
    time.put(out, ticks);
  }
  out.put("\n\n");
  write_text(out, octaves_table(histogram, time), time);
}

void write_histogram_json(TextWriter& out, const FunctionHistogram& histogram,
                          const TimeFormat& time) {
  JsonReport report(out, time);
  report.text("function", histogram.row.name);
  report.number("count", histogram.row.whole);
  for (const auto& [name, ticks] : figures(histogram.row)) report.ticks(name, ticks);
  report.rows("buckets", octaves_table(histogram, time), JsonRows::joined, false);
}

void write_histogram_csv(TextWriter& out, const FunctionHistogram& histogram,
                         const TimeFormat& time) {
  write_csv(out, octaves_table(histogram, time), time);
}

}  // namespace fkt
