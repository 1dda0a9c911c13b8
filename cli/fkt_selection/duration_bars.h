// SPDX-License-Identifier: GPL-2.0-only
// The bars of the page's histogram of durations: on a logarithmic scale, four buckets of a
// Histogram each.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/histogram.h"
#include "lib/base/json_writer.h"

namespace fkt::cli {

class DurationBars {
 public:
  void add(const Histogram& times);
  // Writes [from, to, count] of each bar (ticks, from <= duration < to), from the first to the
  // last that is not empty.
  void put(JsonWriter& json) const;

 private:
  std::vector<std::uint64_t> counts_;
};

}  // namespace fkt::cli
