// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/histogram_shape.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/base/text.h"
#include "lib/format/clocks.h"

namespace fkt::record {
namespace {

constexpr std::uint32_t kRows = 1024;      // different keys on a CPU
constexpr std::size_t kMostBarWidth = 40;  // characters
constexpr double kNsPerSecond = 1e9;

std::uint64_t hits_of(const fkt_histogram_row& row) {
  return std::accumulate(std::begin(row.counts), std::end(row.counts), std::uint64_t{0});
}

// A name from the recorded machine, on one line of a terminal.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) out += c < ' ' || c == 0x7f ? '?' : c;
  return out;
}

}  // namespace

Result<HistogramShape> HistogramShape::make(const Action& action, const MeasuredValue& measured,
                                            double ticks_per_second) {
  HistogramShape shape;
  shape.measured_ = measured;
  if (measured.is_time && ticks_per_second != kNsPerSecond) {
    const double ratio = kNsPerSecond / ticks_per_second;
    for (shape.shift_ = 31; std::ldexp(ratio, static_cast<int>(shape.shift_)) >= 4294967295.0;) {
      shape.shift_--;
    }
    shape.scale_ =
        static_cast<std::uint32_t>(std::llround(std::ldexp(ratio, static_cast<int>(shape.shift_))));
  }
  if (action.width.empty()) return shape;
  if (measured.is_time) {
    const Result<std::uint64_t> width = parse_duration(action.width, kNsPerSecond);
    if (!width) return width.error();
    shape.width_ = *width;
  } else if (!parse_number(action.width, shape.width_)) {
    shape.width_ = 0;
  }
  if (shape.width_ == 0) {
    return Error{ErrorCode::usage, fmt::format("\"{}\" is no width of buckets", action.width)};
  }
  return shape;
}

void HistogramShape::describe(fkt_instrument& instrument) const {
  instrument.rows = measured_.key ? kRows : 1;
  instrument.width = width_;
  instrument.scale = scale_;
  instrument.shift = shift_;
  instrument.key_words = measured_.key ? measured_.key->words : 0;
  instrument.is_signed = measured_.value.kind == RecordedField::Kind::signed_number;
}

std::string HistogramShape::key_text(const fkt_histogram_row& row) const {
  switch (measured_.key->kind) {
    case RecordedField::Kind::text: {
      std::string_view text(reinterpret_cast<const char*>(row.key), sizeof row.key);
      return printable(text.substr(0, std::min(text.find('\0'), text.size())));
    }
    case RecordedField::Kind::address:
    case RecordedField::Kind::hexadecimal:
      return hex(row.key[0]);
    case RecordedField::Kind::signed_number:
      return std::to_string(static_cast<std::int64_t>(row.key[0]));
    case RecordedField::Kind::device:
      return fmt::format("{}:{}", row.key[0] >> 20, row.key[0] & 0xfffff);
    case RecordedField::Kind::bytes:  // no key
    case RecordedField::Kind::number:
      break;
  }
  return std::to_string(row.key[0]);
}

std::string HistogramShape::value_text(std::uint64_t value) const {
  return measured_.is_time ? fmt::format("{} ns", value) : std::to_string(value);
}

std::string HistogramShape::bucket_text(std::size_t bucket) const {
  if (bucket == 0) return "below 0";
  if (width_ != 0) {
    const std::string from = value_text((bucket - 1) * width_);
    return bucket + 1 == FKT_HISTOGRAM_BUCKETS
               ? from + " and more"
               : fmt::format("{} to {}", from, value_text(bucket * width_ - 1));
  }
  if (bucket == 1) return value_text(0);
  const std::uint64_t from = std::uint64_t{1} << (bucket - 2);
  return fmt::format("{} to {}", value_text(from), value_text(from + (from - 1)));
}

std::string HistogramShape::text(std::span<const fkt_histogram_row> rows) const {
  std::vector<const fkt_histogram_row*> sorted;
  for (const fkt_histogram_row& row : rows) sorted.push_back(&row);
  std::ranges::stable_sort(sorted, std::greater(),
                           [](const fkt_histogram_row* row) { return hits_of(*row); });
  std::string text;
  for (const fkt_histogram_row* const row : sorted) {
    const std::uint64_t hits = hits_of(*row);
    if (hits == 0) continue;
    const std::string key =
        measured_.key ? fmt::format("{}={}: ", measured_.key->name, key_text(*row)) : "";
    const auto sum = static_cast<double>(static_cast<std::int64_t>(row->sum));
    text += fmt::format("  {}{}, {} on average {:.1f}{}\n", key, counted(hits, "hit"),
                        measured_.value.name, sum / static_cast<double>(hits),
                        measured_.is_time ? " ns" : "");
    const std::uint64_t most = std::ranges::max(row->counts);
    for (std::size_t i = 0; i < FKT_HISTOGRAM_BUCKETS; i++) {
      if (row->counts[i] == 0) continue;
      const auto bar = static_cast<std::size_t>(static_cast<double>(row->counts[i]) /
                                                static_cast<double>(most) * kMostBarWidth);
      text += fmt::format("    {:>32} {:>10} {}\n", bucket_text(i), row->counts[i],
                          std::string(bar, '#'));
    }
  }
  return text;
}

}  // namespace fkt::record
