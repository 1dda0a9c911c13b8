// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/report_csv.h"

#include "lib/report/hit_report.h"
#include "lib/report/report_tables.h"

namespace fkt {
namespace {

// Returns a table with one row: the selected interval, the numbers of events, and whether all are
// in the file.
Table recording_table(const Summary& summary, const TimeFormat& time) {
  Table table(1);
  const auto add = [&](std::string_view key, Cell value) {
    table.add_column({.key = key}, [value](std::size_t) { return value; });
  };
  add("from", Ticks{summary.selected.from});
  add("to", Ticks{summary.selected.to});
  add("unit", std::string(time.unit()));
  add("events", summary.events);
  add("lost", summary.lost);
  add("complete", summary.missing.empty());
  return table;
}

Table exits_table(const Summary& summary) {
  Table table(kOutcomes);
  table.add_column({.key = "outcome"}, [](std::size_t i) { return std::string(outcome_key(i)); });
  table.add_column({.key = "count"}, [&](std::size_t i) { return summary.exits_alone[i]; });
  return table;
}

void write_parts(TextWriter& out, const Summary& summary, const TimeFormat& time) {
  struct Row {
    const std::string& call;
    const Summary::Part& part;
  };
  std::vector<Row> rows;
  for (const Summary::CallRow& call : summary.calls) {
    for (const Summary::Part& part : call.parts) rows.push_back({call.name, part});
  }
  TableOf<Row> table(rows);
  table.add({.key = "call"}, [](const Row& row) { return row.call; });
  table.add({.key = "name"}, [](const Row& row) { return row.part.name; });
  table.add({.key = "code"}, [](const Row& row) { return code_cell(row.part.code); });
  table.add({.key = "count"}, [](const Row& row) { return row.part.count; });
  table.add({.key = "time"}, [](const Row& row) { return Ticks{row.part.ticks}; });
  write_csv(out, table, time, "parts");
}

}  // namespace

void write_report_csv(TextWriter& out, const Summary& summary,
                      const std::optional<HitResults>& hits, const TimeFormat& time) {
  write_csv(out, recording_table(summary, time), time, "recording");
  if (!summary.losses.empty()) write_csv(out, gaps_table(summary, time), time, "gaps");
  write_csv(out, histogram_table(summary), time, "histogram");
  write_csv(out, durations_table(summary), time, "durations");
  write_csv(out, calls_table(summary), time, "calls");
  write_csv(out, exits_table(summary), time, "exits_alone");
  write_parts(out, summary, time);
  write_csv(out, processes_table(summary, {}), time, "processes");
  write_csv(out, cpus_table(summary), time, "cpus");
  if (hits) write_hits_csv(out, *hits, time);
}

void write_counts_csv(TextWriter& out, const std::vector<Summary::Count>& counts) {
  write_csv(out, counts_table(counts), TimeFormat());
}

}  // namespace fkt
