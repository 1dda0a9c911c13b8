// SPDX-License-Identifier: GPL-2.0-only
// Comparison of two recordings (or KFT logs), function by function: what became slower, and what is
// done more often.
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
  // Change of the time of all calls (ns), and the part of it that is not due to their number: the
  // time that the new calls took more than as many old calls would have. For a function that only
  // one side has: all its time, negative if it is the old side.
  std::int64_t change = 0, extra = 0;
  // slower: probability that a new call takes longer than an old one; 0.5: no difference. p:
  // probability of a difference at least this large by chance. Nothing if either side has too few
  // calls.
  std::optional<double> slower, p;
  bool significant = false;
  double count_p = 1;  // probability of so different numbers of calls, if they came by chance alone
  bool count_significant = false;
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

// Returns the probability that two counts, each of events that come by chance, differ at least so
// much. ratio: how many of the second are expected for one of the first.
double count_test(std::uint64_t first, std::uint64_t second, double ratio);

// What is compared of the two: all calls, or those per second; for the latter both durations must
// be known.
enum class DiffBy { sums, rates };

// Compares two sources that have been read. The row whose time has grown most comes first.
std::vector<DiffRow> function_diff(const CallSource& before, const CallSource& after, DiffBy by);

}  // namespace fkt
