// SPDX-License-Identifier: GPL-2.0-only
// libFuzzer target: for any text, the KFT parser and KftNesting report what they found, and the
// times of every row add up.
#include <cstdlib>
#include <string>

#include "lib/base/bytes.h"
#include "lib/calls/call_trace.h"
#include "lib/calls/call_tree.h"
#include "lib/calls/function_table.h"
#include "lib/calls/kft_nesting.h"
#include "lib/report/call_tree_text.h"

namespace {

using namespace fkt;

void expect(bool condition) {
  if (!condition) std::abort();
}

// Reads the log for one sink; returns how many calls it has.
std::uint64_t nest(std::string_view text, KftNesting& calls) {
  const auto add = [&](const KftCall& call) { calls.add(call); };
  const Result<KftCounts> counts = read_kft(text, "log", add);
  calls.finish();
  return counts ? counts->calls : 0;
}

void check_rows(const Profile& profile, const KftNesting& calls, std::uint64_t expected) {
  const TypeNames names{calls.types(), [&](TypeIndex type) { return calls.name(type); },
                        [](TypeIndex) { return false; }};
  std::uint64_t count = 0;
  for (const FunctionRow& row : function_rows(profile, names)) {
    expect(row.whole <= row.count && row.min <= row.max && row.max <= row.time);
    expect(row.min <= row.p50 && row.p50 <= row.p90 && row.p90 <= row.p99 && row.p99 <= row.max);
    count += row.count;
  }
  expect(count == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(std::as_bytes(std::span(data, size)));
  const TimeFormat time(TimeUnit::us, 1e6);

  Profile profile;
  profile.keep_histograms();
  KftNesting alone(profile, nullptr);
  check_rows(profile, alone, nest(text, alone));

  Profile unused;
  std::size_t bytes = 0;
  KftNesting* calls = nullptr;
  const auto name = [&](TypeIndex type) { return calls->name(type); };
  const auto task = [&](std::uint32_t number) { return std::to_string(calls->pid(number)); };
  const auto flush = [&](TextWriter& lines) {
    bytes += lines.size();
    lines.clear();
  };
  CallTrace trace({.interleaved = size % 2 == 0, .long_form = true, .above = 0}, time, 0, name,
                  task, flush);
  KftNesting traced(unused, &trace);
  calls = &traced;
  nest(text, traced);
  trace.finish();
  expect(bytes > 0 && trace.printed_early() == 0);

  CallTree paths(name, task);
  KftNesting folded(unused, &paths);
  calls = &folded;
  nest(text, folded);
  paths.finish();
  TextWriter out;
  write_folded(out, paths, time);
  return 0;
}
