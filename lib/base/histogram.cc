// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/histogram.h"

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace fkt {

void Histogram::make_room(std::uint32_t bucket) {
  if (counts_.empty()) first_ = bucket;
  if (bucket < first_) {
    counts_.insert(counts_.begin(), first_ - bucket, 0);
    first_ = bucket;
  }
  if (bucket - first_ >= counts_.size()) counts_.resize(bucket - first_ + 1);
}

std::uint64_t Histogram::percentile(double percent) const {
  const double rank = std::ceil(percent / 100 * static_cast<double>(count_));
  const std::uint64_t wanted = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(rank));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); i++) {
    seen += in(i);
    if (seen < wanted) continue;
    const std::uint32_t bucket = first_ + static_cast<std::uint32_t>(i);
    return bottom(bucket) + width(bucket) / 2;
  }
  return 0;
}

namespace {

// Bounds within a power of ten, coarse to fine.
constexpr std::array<double, 3> kCoarse = {1, 2, 5};
constexpr std::array<double, 6> kMedium = {1, 1.5, 2, 3, 5, 7};
constexpr std::array<double, 10> kFine = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8};
constexpr std::size_t kMostRows = 24;      // of finer bounds
constexpr std::uint64_t kFewestEach = 16;  // values in a row of finer bounds, on average
constexpr double kMostTicks = 18.4e18;     // larger bounds are no ticks

// Returns ascending bounds (ticks), the first at or below `low` and the last above `high`.
std::vector<std::uint64_t> bounds(std::span<const double> steps, double unit, std::uint64_t low,
                                  std::uint64_t high) {
  std::vector<std::uint64_t> all = {0};
  // The powers are made of their exponents: products of products would not be round.
  const int first =
      static_cast<int>(std::floor(std::log10(static_cast<double>(low + 1) / unit))) - 1;
  for (int exponent = first;; exponent++) {
    for (const double step : steps) {
      const double ticks = std::round(step * unit * std::pow(10., exponent));
      const bool last = ticks >= kMostTicks;
      const std::uint64_t bound =
          last ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(ticks);
      if (bound <= all.back()) continue;
      if (bound <= low) all.clear();
      all.push_back(bound);
      if (last || bound > high) return all;
    }
  }
}

}  // namespace

std::vector<Histogram::Row> Histogram::rows(double unit) const {
  if (counts_.empty()) return {};
  const auto middle = [&](std::size_t i) {
    const std::uint32_t bucket = first_ + static_cast<std::uint32_t>(i);
    return bottom(bucket) + width(bucket) / 2;
  };
  const std::uint64_t low = middle(0), high = middle(counts_.size() - 1);
  std::vector<std::uint64_t> limits = bounds(kCoarse, unit, low, high);
  for (const std::span<const double> finer : {std::span<const double>(kMedium), {kFine}}) {
    std::vector<std::uint64_t> tried = bounds(finer, unit, low, high);
    if (tried.size() - 1 > kMostRows || count_ < kFewestEach * (tried.size() - 1)) break;
    limits = std::move(tried);
  }
  std::vector<Row> rows;
  for (std::size_t i = 0; i + 1 < limits.size(); i++) rows.push_back({limits[i], limits[i + 1], 0});
  std::size_t row = 0;
  for (std::size_t i = 0; i < counts_.size(); i++) {
    while (middle(i) >= rows[row].to && row + 1 < rows.size()) row++;
    rows[row].count += in(i);
  }
  return rows;
}

}  // namespace fkt
