// SPDX-License-Identifier: GPL-2.0-only
#include "lib/calls/function_histogram.h"

#include <algorithm>

#include "lib/base/suggest.h"

namespace fkt {
namespace {

constexpr std::size_t kTime = 16, kCount = 10;
constexpr std::uint64_t kBar = 50;  // characters of the longest bar

}  // namespace

Result<FunctionHistogram> function_histogram(const Profile& profile, const TypeNames& types,
                                             const std::string& name) {
  std::vector<std::string> known;
  FunctionHistogram result;
  for (const FunctionRow& row : function_rows(profile, types)) {
    known.push_back(row.name);
    if (row.name == name) result.row = row;
  }
  if (result.row.count == 0) {
    return Error{ErrorCode::usage,
                 "--histogram: no function \"" + name + "\"" + did_you_mean(name, known)};
  }
  for (TypeIndex type = 0; type < types.count; type++) {
    if (types.name(type) == name) result.octaves = profile.stats(type).times.octaves();
  }
  if (!result.octaves.empty()) return result;
  return Error{ErrorCode::usage, "--histogram: no call of " + name + " was seen to its end"};
}

void write_histogram(TextWriter& out, const FunctionHistogram& histogram, const TimeFormat& time) {
  const FunctionRow& row = histogram.row;
  out.put(row.name);
  out.put(": ");
  out.number(row.whole);
  out.put(row.whole == 1 ? " call" : " calls");
  const auto put = [&](std::string_view name, std::uint64_t ticks) {
    out.put(name);
    time.put(out, ticks);
  };
  put(", min ", row.min);
  put(", p50 ", row.p50);
  put(", p90 ", row.p90);
  put(", p99 ", row.p99);
  put(", max ", row.max);
  out.put("\n\n");
  out.right("From (" + std::string(time.title()) + ")", kTime);
  out.right("below", kTime);
  out.right("Count", kCount);
  out.put('\n');
  std::uint64_t most = 1;
  for (const auto& octave : histogram.octaves) most = std::max(most, octave.count);
  for (const auto& octave : histogram.octaves) {
    time.right(out, octave.from, kTime);
    time.right(out, octave.to, kTime);
    out.right(octave.count, kCount);
    // Rounded up, so that a single call is visible.
    const std::uint64_t bar = (octave.count * kBar + most - 1) / most;
    if (bar > 0) out.put(' ');
    out.fill(bar, '*');
    out.put('\n');
  }
}

void write_histogram_json(TextWriter& out, const FunctionHistogram& histogram,
                          const TimeFormat& time) {
  const FunctionRow& row = histogram.row;
  out.put("{\"unit\":");
  out.json(time.unit());
  out.put(",\"function\":");
  out.json(row.name);
  out.put(",\"count\":");
  out.number(row.whole);
  const std::pair<std::string_view, std::uint64_t> kTimes[] = {
      {"min", row.min}, {"p50", row.p50}, {"p90", row.p90}, {"p99", row.p99}, {"max", row.max}};
  for (const auto& [name, ticks] : kTimes) {
    out.put(",");
    out.json(name);
    out.put(':');
    time.put(out, ticks);
  }
  out.put(",\"buckets\":[");
  for (const auto& octave : histogram.octaves) {
    out.put(&octave == histogram.octaves.data() ? "{\"from\":" : ",{\"from\":");
    time.put(out, octave.from);
    out.put(",\"to\":");
    time.put(out, octave.to);
    out.put(",\"count\":");
    out.number(octave.count);
    out.put('}');
  }
  out.put("]}\n");
}

void write_histogram_csv(TextWriter& out, const FunctionHistogram& histogram,
                         const TimeFormat& time) {
  out.put("from,to,count\r\n");
  for (const auto& octave : histogram.octaves) {
    time.put(out, octave.from);
    out.put(',');
    time.put(out, octave.to);
    out.put(',');
    out.number(octave.count);
    out.put("\r\n");
  }
}

}  // namespace fkt
