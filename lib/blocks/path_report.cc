// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/path_report.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "lib/base/json_writer.h"
#include "lib/base/table.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

using Row = PathProfile::Row;

std::vector<Row> rows_by_time(const PathReport& report) {
  auto rows = report.profile.rows();
  std::ranges::stable_sort(rows, std::ranges::greater{}, &Row::ticks);
  return rows;
}

std::uint64_t mean(std::uint64_t sum, std::uint64_t count) {
  return count == 0 ? 0 : (sum + count / 2) / count;
}

struct WayCounts {
  std::uint64_t watched = 0, cut = 0;
};
WayCounts way_counts(const PathNumbers& numbers) {
  WayCounts counts;
  for (std::uint32_t way = 0; way < numbers.ways().size(); way++) {
    counts.watched += numbers.is_watched(way);
    counts.cut += numbers.is_cut(way);
  }
  return counts;
}

// Why some of what was taken is in no row, or may be in the wrong one.
struct Doubt {
  const char* key;
  std::uint64_t count = 0;
  std::string text;
};
std::vector<Doubt> doubts(const PathReport& report) {
  const PathProfile::Sums sums = report.profile.sums();
  std::vector<Doubt> doubts;
  const auto add = [&](const char* key, std::uint64_t count, const char* what,
                       std::string_view why) {
    if (count > 0) doubts.push_back({key, count, fmt::format("{} {}", counted(count, what), why)});
  };
  add("events_lost", report.lost, "event", "lost (fkt_record -p has more room)");
  add("calls_in_gaps", sums.calls_in_gaps, "call",
      "left out, because events may be lost that were during them");
  add("calls_unclear", sums.calls_unclear, "call", "left out, whose ways are none of one path");
  add("ways_outside", sums.ways_outside, "watched way",
      "taken by calls that did not begin and end while it was recorded");
  for (const auto& [word, count] : report.calls.missed) {
    add("calls_missed", count, "call", fmt::format("not recorded: {}", missed_text(word)));
  }
  for (const auto& [word, count] : report.missed_ways) {
    add("ways_missed", count, "watched way",
        fmt::format("not recorded, so that some paths may be wrong: {}", missed_text(word)));
  }
  return doubts;
}

Table path_table(const PathReport& report, const std::vector<Row>& rows, std::size_t most) {
  Table table(std::min(rows.size(), most));
  const auto add = [&](const char* title, std::size_t width, auto cell) {
    table.add_column({.title = title, .width = width, .separated = true},
                     [&rows, cell](std::size_t i) { return Cell(cell(rows[i])); });
  };
  std::uint64_t all = 0;
  for (const Row& row : rows) all += row.times;
  add("Path", 6, [](const Row& row) { return row.number; });
  add("Times", 9, [](const Row& row) { return row.times; });
  add("Percent", 7, [all](const Row& row) {
    return Percent{100.0 * static_cast<double>(row.times) / static_cast<double>(all)};
  });
  add("Total", 9, [](const Row& row) { return Ticks{row.ticks}; });
  add("Mean", 9, [](const Row& row) { return Ticks{mean(row.ticks, row.times)}; });
  add("Longest", 9, [](const Row& row) { return Ticks{row.longest}; });
  if (way_counts(report.paths.numbers()).cut > 0) {
    add("Calls", 9, [](const Row& row) { return row.calls; });
    add("Call mean", 9, [](const Row& row) { return Ticks{mean(row.call_ticks, row.calls)}; });
  }
  return table;
}

// Writes "   0-3 7 9 returns", and the source lines below it.
void put_way(TextWriter& out, const PathReport& report, std::uint64_t number) {
  const Path path = report.paths.numbers().path(number);
  const auto blocks = report.paths.blocks_of(path);
  std::string text;
  for (std::size_t i = 0; i < blocks.size();) {
    std::size_t last = i;
    while (last + 1 < blocks.size() && blocks[last + 1] == blocks[last] + 1) last++;
    text += ' ' + std::to_string(blocks[i]);
    if (last > i) text += (last > i + 1 ? '-' : ' ') + std::to_string(blocks[last]);
    i = last + 1;
  }
  const auto put = [&](std::string_view line) {
    out.fill(8);
    out.escaped(line);
    out.put('\n');
  };
  put("blocks" + text + ", " + report.paths.end_text(path.ways.back()));
  if (report.lines == nullptr) return;
  const std::string lines = report.paths.lines_of(path, *report.lines);
  if (!lines.empty()) put(lines);
}

void put_head(TextWriter& out, const PathReport& report, std::size_t taken) {
  const FlowGraph& graph = report.paths.graph();
  const PathNumbers& numbers = report.paths.numbers();
  const std::string module =
      graph.function().module.empty() ? "" : fmt::format(" [{}]", graph.function().module);
  out.escaped(fmt::format(
      "{}{}: {}, {}, {} of {} taken in {}", graph.function().name, module,
      counted(graph.blocks().size(), "block"), counted(numbers.ways().size(), "way"), taken,
      counted(numbers.paths(), "path"), counted(report.profile.sums().calls, "call")));
  out.put('\n');
}

// Says how it was measured, and what that costs.
void put_cost(TextWriter& out, const PathReport& report) {
  const PathProfile::Sums sums = report.profile.sums();
  const WayCounts counts = way_counts(report.paths.numbers());
  out.put(fmt::format("\nwatched: the calls, and {}", counted(counts.watched, "way")));
  if (counts.cut > 0) {
    out.put(fmt::format(", {} of which {} a path", counts.cut, counts.cut == 1 ? "ends" : "end"));
  }
  if (sums.calls > 0) {
    out.put(fmt::format("; {:.1f} ways a call, whose recording is in all these times",
                        static_cast<double>(sums.ways) / static_cast<double>(sums.calls)));
  }
  out.put('\n');
}

}  // namespace

void write_paths_text(TextWriter& out, const PathReport& report, std::size_t most) {
  const auto rows = rows_by_time(report);
  put_head(out, report, rows.size());
  const TimeFormat time(TimeUnit::readable, report.ticks_per_second);
  if (!rows.empty()) {
    Table table = path_table(report, rows, most);
    table.after_row([&](TextWriter& to, std::size_t i) { put_way(to, report, rows[i].number); });
    write_text(out, table, time);
  }
  if (rows.size() > most) out.put(fmt::format("... {} more (--top)\n", rows.size() - most));
  put_cost(out, report);
  for (const Doubt& doubt : doubts(report)) {
    out.escaped(doubt.text);
    out.put('\n');
  }
}

void write_paths_json(TextWriter& out, const PathReport& report) {
  const PathNumbers& numbers = report.paths.numbers();
  const FlowGraph& graph = report.paths.graph();
  const TimeFormat time(TimeUnit::ns, report.ticks_per_second);
  const PathProfile::Sums sums = report.profile.sums();
  const auto ways = [&](JsonWriter& json, auto is_one) {
    json.array([&] {
      for (std::uint32_t i = 0; i < numbers.ways().size(); i++) {
        if (!is_one(i)) continue;
        const PathWay& way = numbers.ways()[i];
        if (way.to == PathWay::kOutside)
          json.row(way.from, nullptr);
        else
          json.row(way.from, way.to);
      }
    });
  };
  const auto put_path = [&](JsonWriter& json, const Row& row) {
    const Path path = numbers.path(row.number);
    json.object([&] {
      json.members(
          "path", row.number, "times", row.times, "total_ns", time.ns(row.ticks), "longest_ns",
          time.ns(row.longest), "calls", row.calls, "calls_ns", time.ns(row.call_ticks),
          "longest_call_ns", time.ns(row.longest_call), "longest_call_at_ns",
          time.ns(row.longest_call_at - std::min(row.longest_call_at, report.start)), "blocks",
          report.paths.blocks_of(path), "end", report.paths.end_text(path.ways.back()));
      if (report.lines == nullptr) return;
      const std::string lines = report.paths.lines_of(path, *report.lines);
      if (!lines.empty()) json.members("lines", lines);
    });
  };
  JsonWriter json(out);
  json.object([&] {
    json.members(
        "function", graph.function().name, "module", graph.function().module, "address",
        graph.function().begin, "blocks", graph.blocks().size(), "ways", numbers.ways().size(),
        "paths", numbers.paths(), "watched",
        [&](JsonWriter& to) { ways(to, [&](auto i) { return numbers.is_watched(i); }); }, "cut",
        [&](JsonWriter& to) { ways(to, [&](auto i) { return numbers.is_cut(i); }); }, "calls",
        sums.calls, "calls_ns", time.ns(sums.ticks), "ways_taken", sums.ways, "taken",
        [&](JsonWriter& to) {
          to.array([&] {
            for (const Row& row : rows_by_time(report)) put_path(to, row);
          });
        });
    std::map<std::string_view, std::uint64_t> left_out;
    for (const Doubt& doubt : doubts(report)) left_out[doubt.key] += doubt.count;
    json.key("left_out").object([&] {
      for (const auto& [key, count] : left_out) json.members(key, count);
    });
  });
  out.put('\n');
}

}  // namespace fkt
