// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/duration_bars.h"

#include <algorithm>

namespace fkt::cli {
namespace {

constexpr std::uint32_t kBuckets = 4;  // of a Histogram per bar

}  // namespace

void DurationBars::add(const Histogram& times) {
  times.for_each([this](std::uint32_t bucket, std::uint64_t count) {
    if (bucket / kBuckets >= counts_.size()) counts_.resize(bucket / kBuckets + 1);
    counts_[bucket / kBuckets] += count;
  });
}

void DurationBars::put(JsonWriter& json) const {
  const auto first = std::ranges::find_if(counts_, [](std::uint64_t count) { return count > 0; });
  json.array([&] {
    for (auto bar = static_cast<std::uint32_t>(first - counts_.begin()); bar < counts_.size();
         bar++) {
      const std::uint64_t to = Histogram::bottom((bar + 1) * kBuckets);  // 0: larger than 64 bits
      json.row(Histogram::bottom(bar * kBuckets), to == 0 ? ~std::uint64_t{0} : to, counts_[bar]);
    }
  });
}

}  // namespace fkt::cli
