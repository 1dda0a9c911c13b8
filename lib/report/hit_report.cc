// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/hit_report.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <fkt/events.h>

#include "lib/base/text.h"

namespace fkt {
namespace {

constexpr std::size_t kMostBarWidth = 40;  // characters

std::string why_missed(const Hits& hits) {
  std::string why;
  for (const auto& [word, count] : hits.missed) {
    if (count == 0 || word == kMissedOwn) continue;
    why += (why.empty() ? " (" : ", ") + with_commas(count) + ' ';
    why += missed_text(word);
  }
  return why.empty() ? why : why + ')';
}

std::string left_out(const Hits& hits) {
  if (hits.own() == 0) return {};
  return fmt::format(", {} left out ({})", with_commas(hits.own()), missed_text(kMissedOwn));
}

// A duration stands in the unit that suits it.
std::string value_text(const HitHistogram& histogram, std::uint64_t value) {
  if (histogram.unit == "ns") return TimeFormat(TimeUnit::readable).text(value);
  std::string text = std::to_string(value);
  return histogram.unit.empty() ? text : text + ' ' + printable(histogram.unit);
}

std::string range_text(const HitHistogram& histogram, unsigned bucket) {
  const HitHistogram::Range range = histogram.range(bucket);
  if (!range.from) return "below 0";
  const std::string from = value_text(histogram, *range.from);
  if (!range.to) return from + " and more";
  if (*range.to == *range.from && histogram.width == 0) return from;
  return from + " to " + value_text(histogram, *range.to);
}

std::string row_text(const HitHistogram& histogram, const HitHistogram::Row& row) {
  const std::uint64_t hits = row.hits();
  std::string text = "  ";
  if (!histogram.key.empty()) text += printable(histogram.key + '=' + row.key) + ": ";
  const double average = static_cast<double>(row.sum) / static_cast<double>(hits);
  const bool is_time = histogram.unit == "ns" && average >= 0;
  const std::string unit = histogram.unit.empty() ? "" : ' ' + printable(histogram.unit);
  text += fmt::format("{}, {} on average {}\n", counted(hits, "hit"), printable(histogram.value),
                      is_time ? value_text(histogram, static_cast<std::uint64_t>(average))
                              : fmt::format("{:.1f}{}", average, unit));
  const std::uint64_t most = std::ranges::max_element(row.counts, {}, [](const auto& bucket) {
                               return bucket.second;
                             })->second;
  for (const auto& [bucket, count] : row.counts) {
    if (count == 0) continue;
    const auto bar = static_cast<std::size_t>(static_cast<double>(count) /
                                              static_cast<double>(most) * kMostBarWidth);
    text += fmt::format("    {:>32} {:>10} {}\n", range_text(histogram, bucket), count,
                        std::string(bar, '#'));
  }
  return text;
}

// ---- tables ----

Column member(std::string_view key) {
  return {.key = key, .in = Column::kData};
}

struct Bucket {
  std::uint64_t instrument = 0;
  const HitHistogram* histogram = nullptr;
  const HitHistogram::Row* row = nullptr;
  unsigned number = 0;
  std::uint64_t count = 0;
};

Cell edge(const std::optional<std::uint64_t>& value) {
  return value ? Cell(*value) : Cell(kUnknown);
}

void add_bucket_columns(TableOf<Bucket>& table) {
  table.add(member("from"),
            [](const Bucket& b) { return edge(b.histogram->range(b.number).from); });
  table.add(member("to"), [](const Bucket& b) { return edge(b.histogram->range(b.number).to); });
  table.add(member("hits"), [](const Bucket& b) { return b.count; });
}

void add_hit_columns(auto& table, auto hits_of) {
  table.add(member("kept"), [hits_of](const auto& row) { return hits_of(row).kept; });
  table.add(member("dropped"), [hits_of](const auto& row) { return hits_of(row).dropped; });
  table.add(member("missed"), [hits_of](const auto& row) { return hits_of(row).all_missed(); });
}

std::vector<Bucket> buckets_of(std::uint64_t instrument, const HitHistogram& histogram,
                               const HitHistogram::Row& row) {
  std::vector<Bucket> buckets;
  for (const auto& [number, count] : row.counts) {
    buckets.push_back({instrument, &histogram, &row, number, count});
  }
  return buckets;
}

// A nested table must own its rows.
template <class Row>
struct Owned {
  explicit Owned(std::vector<Row> from) : rows(std::move(from)), table(rows) {}
  std::vector<Row> rows;
  TableOf<Row> table;
};

template <class Row, class Fill>
std::shared_ptr<const Table> nested(std::vector<Row> rows, Fill fill) {
  const auto owned = std::make_shared<Owned<Row>>(std::move(rows));
  fill(owned->table);
  return {owned, &owned->table};
}

std::shared_ptr<const Table> hit_rows(const HitHistogram& histogram) {
  using Row = HitHistogram::Row;
  return nested(histogram.rows, [&](TableOf<Row>& table) {
    table.add(member("key"),
              [&](const Row& row) { return histogram.key.empty() ? Cell(kNone) : Cell(row.key); });
    table.add(member("hits"), [](const Row& row) { return row.hits(); });
    table.add(member("average"), [](const Row& row) {
      return Decimal{static_cast<double>(row.sum) / static_cast<double>(row.hits()), 1};
    });
    table.add(member("buckets"), [&](const Row& row) {
      return nested(buckets_of(0, histogram, row), add_bucket_columns);
    });
  });
}

using Missed = std::pair<std::string, std::uint64_t>;

std::shared_ptr<const Table> hit_reasons(const Hits& hits) {
  std::vector<Missed> reasons(hits.missed.begin(), hits.missed.end());
  return nested(std::move(reasons), [](TableOf<Missed>& table) {
    table.add(member("reason"), [](const Missed& missed) { return missed.first; });
    table.add(member("hits"), [](const Missed& missed) { return missed.second; });
  });
}

std::shared_ptr<const Table> hit_cpus(const InstrumentResult& result) {
  using OnCpu = InstrumentResult::OnCpu;
  return nested(result.cpus, [](TableOf<OnCpu>& table) {
    table.add(member("cpu"), [](const OnCpu& on) { return std::uint64_t{on.cpu}; });
    add_hit_columns(table, [](const OnCpu& on) { return on.hits; });
    table.add(member("reasons"), [](const OnCpu& on) { return hit_reasons(on.hits); });
  });
}

// The columns of an instrument that have one value.
void add_plain_columns(TableOf<InstrumentResult>& table) {
  using Result = InstrumentResult;
  table.add(member("instrument"), [](const Result& result) { return result.text; });
  table.add(member("action"), [](const Result& result) { return result.action; });
  table.add(member("layer"), [](const Result& r) { return std::uint64_t{r.layer}; });
  table.add(member("of"), [](const Result& result) { return result.of; });
  table.add(member("places"), [](const Result& result) { return result.places; });
  table.add(member("removed"), [](const Result& result) { return result.is_removed; });
  add_hit_columns(table, [](const Result& result) { return result.hits(); });
  const auto of_histogram = [&](std::string_view key, auto of) {
    table.add(member(key), [of](const Result& result) {
      const auto& histogram = result.histogram;
      return histogram && !((*histogram).*of).empty() ? Cell((*histogram).*of) : Cell(kNone);
    });
  };
  of_histogram("value", &HitHistogram::value);
  of_histogram("unit", &HitHistogram::unit);
  of_histogram("key", &HitHistogram::key);
}

struct CpuRow {
  std::uint64_t instrument = 0;
  const InstrumentResult::OnCpu* on = nullptr;
};

struct MissedRow {
  std::uint64_t instrument = 0;
  std::uint32_t cpu = 0;
  std::string_view reason;
  std::uint64_t hits = 0;
};

void write_cpus_csv(TextWriter& out, const HitResults& results, const TimeFormat& time) {
  std::vector<CpuRow> cpus;
  std::vector<MissedRow> reasons;
  for (std::size_t i = 0; i < results.instruments.size(); i++) {
    for (const InstrumentResult::OnCpu& on : results.instruments[i].cpus) {
      cpus.push_back({i + 1, &on});
      for (const auto& [word, hits] : on.hits.missed)
        reasons.push_back({i + 1, on.cpu, word, hits});
    }
  }
  TableOf<CpuRow> table(cpus);
  table.add(member("number"), [](const CpuRow& row) { return row.instrument; });
  table.add(member("cpu"), [](const CpuRow& row) { return std::uint64_t{row.on->cpu}; });
  add_hit_columns(table, [](const CpuRow& row) { return row.on->hits; });
  write_csv(out, table, time, "instrument_cpus");
  TableOf<MissedRow> missed(reasons);
  missed.add(member("number"), [](const MissedRow& row) { return row.instrument; });
  missed.add(member("cpu"), [](const MissedRow& row) { return std::uint64_t{row.cpu}; });
  missed.add(member("reason"), [](const MissedRow& row) { return std::string(row.reason); });
  missed.add(member("hits"), [](const MissedRow& row) { return row.hits; });
  write_csv(out, missed, time, "instrument_missed");
}

void write_buckets_csv(TextWriter& out, const HitResults& results, const TimeFormat& time) {
  std::vector<Bucket> buckets;
  for (std::size_t i = 0; i < results.instruments.size(); i++) {
    const std::optional<HitHistogram>& histogram = results.instruments[i].histogram;
    if (!histogram) continue;
    for (const HitHistogram::Row& row : histogram->rows) {
      const std::vector<Bucket> more = buckets_of(i + 1, *histogram, row);
      buckets.insert(buckets.end(), more.begin(), more.end());
    }
  }
  TableOf<Bucket> table(buckets);
  table.add(member("number"), [](const Bucket& b) { return b.instrument; });
  table.add(member("key"), [](const Bucket& b) {
    return b.histogram->key.empty() ? Cell(kNone) : Cell(b.row->key);
  });
  add_bucket_columns(table);
  write_csv(out, table, time, "instrument_buckets");
}

}  // namespace

std::string hits_line(const InstrumentResult& result) {
  const Hits hits = result.hits();
  const std::string places =
      result.is_removed ? "removed" : counted(result.places, result.of.c_str());
  return printable(result.text) + ": " + places + ", " + with_commas(hits.kept) +
         (result.has_calls ? " calls" : " hits") +
         (result.action == "record" || result.action == "stack" ? " recorded, " : " counted, ") +
         with_commas(hits.dropped) + " dropped by its condition, " +
         with_commas(hits.all_missed()) + " missed" + printable(why_missed(hits)) + left_out(hits);
}

std::string hits_by_cpu_line(const InstrumentResult& result) {
  std::string line;
  for (const InstrumentResult::OnCpu& on : result.cpus) {
    line += fmt::format("{}CPU {}: {} kept, {} dropped, {} missed", line.empty() ? "  " : "; ",
                        on.cpu, with_commas(on.hits.kept), with_commas(on.hits.dropped),
                        with_commas(on.hits.all_missed()));
  }
  return line;
}

std::string histogram_text(const HitHistogram& histogram) {
  std::string text;
  for (const HitHistogram::Row& row : histogram.rows) {
    if (row.hits() != 0) text += row_text(histogram, row);
  }
  return text;
}

std::string shared_line(const HitResults::Calls& calls) {
  return counted(calls.shared, "call") +
         " of functions that others trace by ftrace, too: what these tracers call themselves "
         "is not seen";
}

void write_hits(TextWriter& out, const HitResults& results) {
  bool is_first = true;
  for (const InstrumentResult& result : results.instruments) {
    const bool is_shown =
        result.layer == FKT_L_INSTRUMENTS || result.is_result() || result.hits().all_missed() > 0;
    if (!is_shown) continue;
    if (is_first) out.put("\nInstruments: what became of their hits, in the whole recording\n");
    is_first = false;
    out.put(hits_line(result) + '\n');
    if (result.histogram) out.put(histogram_text(*result.histogram));
  }
  if (!results.calls) return;
  const HitResults::Calls& calls = *results.calls;
  if (is_first && (calls.taken > 0 || calls.shared > 0 || calls.total_ns > 0)) out.put("\n");
  if (calls.taken > 0) {
    out.put("Not seen: " + counted(calls.taken, "call") +
            " that BPF programs at entries, or a live patch, had taken\n");
  }
  if (calls.shared > 0) out.put(shared_line(calls) + '\n');
  if (calls.total_ns == 0) return;
  out.put("Durations of calls are not corrected: tracing took at least " +
          std::to_string(calls.inside_ns) + " ns of a call's own time, and " +
          std::to_string(calls.total_ns) + " ns of its caller's\n");
}

Table instruments_table(const HitResults& results) {
  using Result = InstrumentResult;
  TableOf<Result> table(results.instruments);
  add_plain_columns(table);
  table.add(member("cpus"), [](const Result& result) { return hit_cpus(result); });
  table.add(member("rows"), [](const Result& result) {
    return result.histogram ? Cell(hit_rows(*result.histogram)) : Cell(kNone);
  });
  return table;
}

void write_hits_csv(TextWriter& out, const HitResults& results, const TimeFormat& time) {
  TableOf<InstrumentResult> table(results.instruments);
  table.add_column(member("number"), [](std::size_t row) { return std::uint64_t{row + 1}; });
  add_plain_columns(table);
  write_csv(out, table, time, "instruments");
  write_cpus_csv(out, results, time);
  write_buckets_csv(out, results, time);
}

}  // namespace fkt
