// SPDX-License-Identifier: GPL-2.0-only
// Comparison of two recordings (or KFT logs), function by function: what became slower.
//
// Durations are compared by ranks (test of Mann and Whitney, with its correction for ties), because
// they are far from normally distributed: a few calls that slept outweigh thousands that did not.
// The ranks come from histograms, so the single durations are not kept. If the recordings' clocks
// tick at different rates, durations are scaled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/calls/call_source.h"

namespace fkt {

struct DiffRow {
  struct Side {
    std::uint64_t count = 0, whole = 0;            // calls; calls whose begin and end were seen
    std::uint64_t time = 0, average = 0, p50 = 0;  // ns
  };
  std::string name;
  Side before, after;
  // Time that the new calls took more than as many old calls would have (ns). For a function that
  // only one side has: all its time, negative if it is the old side.
  std::int64_t extra = 0;
  // slower: probability that a new call takes longer than an old one; 0.5: no difference. p:
  // probability of a difference at least this large by chance. Nothing if either side has too few
  // calls.
  std::optional<double> slower, p;
  bool significant = false;
};

// Smallest number of calls on each side for which the test's normal approximation holds.
inline constexpr std::uint64_t kFewest = 8;
// Significance level of a whole comparison: one comparison in a hundred of recordings that do not
// differ has a significant row. The averages must also differ by more than a histogram's bucket.
inline constexpr double kLevel = 0.01;

struct RankTest {
  double slower = 0.5;  // P(second > first) + P(equal) / 2
  double p = 1;         // two-sided
};
// scale: ticks of `second` per tick of `first`. Returns nothing if either has less than kFewest
// values.
std::optional<RankTest> rank_test(const Histogram& first, const Histogram& second, double scale);

// Compares two sources that have been read. The row with the most extra time comes first.
std::vector<DiffRow> function_diff(const CallSource& before, const CallSource& after);

}  // namespace fkt
