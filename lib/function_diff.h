// SPDX-License-Identifier: GPL-2.0-only
// What became slower between two recordings (or KFT logs), function by function.
//
// Durations are compared by ranks (Mann and Whitney's test, with its correction for ties), because
// they are far from normal: a few calls that slept outweigh thousands that did not. Ranks come from
// histograms, so neither recording is kept. Different clocks are brought to one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/call_source.h"
#include "lib/time_format.h"
#include "lib/writer.h"

namespace fkt {

struct DiffRow {
  struct Side {
    std::uint64_t count = 0, whole = 0;            // calls; of these, seen to their exit
    std::uint64_t time = 0, average = 0, p50 = 0;  // ns
  };
  std::string name;
  Side before, after;
  // Time that the new calls took more than as many old ones would have (ns); of a function that
  // one of the two lacks, all its time.
  std::int64_t extra = 0;
  // The chance that a new call takes longer than an old one; 0.5: neither. And that of a
  // difference like this one without a reason. Nothing where either has too few calls.
  std::optional<double> slower, p;
  bool significant = false;
};

// A rank test needs so many calls on both sides for its normal approximation.
inline constexpr std::uint64_t kFewest = 8;
// Significant: by chance, one comparison of two recordings in a hundred has any such row; and the
// averages differ by more than a histogram's bucket.
inline constexpr double kLevel = 0.01;

struct RankTest {
  double slower = 0.5;  // P(second > first) + P(equal) / 2
  double p = 1;         // two-sided
};
// scale: what a tick of `first` is in ticks of `second`.
std::optional<RankTest> rank_test(const Histogram& first, const Histogram& second, double scale);

// Both read. Most extra time first.
std::vector<DiffRow> function_diff(const CallSource& before, const CallSource& after);

void write_diff(Writer& out, const std::vector<DiffRow>& rows, TimeUnit unit);
// old_name, new_name: the files.
void write_diff_json(Writer& out, const std::vector<DiffRow>& rows, TimeUnit unit,
                     const std::string& old_name, const std::string& new_name);
void write_diff_csv(Writer& out, const std::vector<DiffRow>& rows, TimeUnit unit);

}  // namespace fkt
