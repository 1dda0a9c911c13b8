// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/histogram_shape.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/base/text.h"
#include "lib/format/clocks.h"

namespace fkt::record {
namespace {

constexpr std::uint32_t kRows = 1024;  // different keys on a CPU
constexpr double kNsPerSecond = 1e9;

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
    shape.width_ = FKT_TRY(parse_duration(action.width, kNsPerSecond));
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
      return std::string(text.substr(0, std::min(text.find('\0'), text.size())));
    }
    case RecordedField::Kind::address:
    case RecordedField::Kind::hexadecimal:
      return hex(row.key[0]);
    case RecordedField::Kind::signed_number:
      return std::to_string(static_cast<std::int64_t>(row.key[0]));
    case RecordedField::Kind::device:
      return fmt::format("{}:{}", row.key[0] >> 20, row.key[0] & 0xfffff);
    case RecordedField::Kind::bytes:  // no key
    case RecordedField::Kind::ip6:    // likewise
    case RecordedField::Kind::number:
      break;
  }
  return std::to_string(row.key[0]);
}

HitHistogram HistogramShape::result(std::span<const fkt_histogram_row> rows) const {
  HitHistogram histogram{.value = measured_.value.name,
                         .unit = measured_.is_time ? "ns" : "",
                         .key = measured_.key ? measured_.key->name : "",
                         .width = width_,
                         .rows = {}};
  for (const fkt_histogram_row& from : rows) {
    HitHistogram::Row row;
    if (measured_.key) row.key = key_text(from);
    row.sum = static_cast<std::int64_t>(from.sum);
    for (unsigned i = 0; i < FKT_HISTOGRAM_BUCKETS; i++) {
      if (from.counts[i] != 0) row.counts[i] = from.counts[i];
    }
    // A row may have been made without a hit yet.
    if (!row.counts.empty()) histogram.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(histogram.rows, std::greater(), &HitHistogram::Row::hits);
  return histogram;
}

}  // namespace fkt::record
