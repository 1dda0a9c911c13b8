// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/histogram.h"

#include <cmath>
#include <limits>

namespace fkt {

std::uint64_t Histogram::percentile(double percent) const {
  const double rank = std::ceil(percent / 100 * static_cast<double>(count_));
  const std::uint64_t wanted = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(rank));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); i++) {
    seen += counts_[i];
    if (seen < wanted) continue;
    const std::uint32_t bucket = first_ + static_cast<std::uint32_t>(i);
    return bottom(bucket) + width(bucket) / 2;
  }
  return 0;
}

std::vector<Histogram::Octave> Histogram::octaves() const {
  std::vector<Octave> rows;
  for (std::size_t i = 0; i < counts_.size(); i++) {
    const std::uint64_t value = bottom(first_ + static_cast<std::uint32_t>(i));
    const std::uint64_t from = value == 0 ? 0 : std::bit_floor(value);
    if (rows.empty() || rows.back().from != from) {
      constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
      const std::uint64_t to = from == 0      ? 1
                               : from == kTop ? std::numeric_limits<std::uint64_t>::max()
                                              : from * 2;
      rows.push_back({from, to, 0});
    }
    rows.back().count += counts_[i];
  }
  return rows;
}

}  // namespace fkt
