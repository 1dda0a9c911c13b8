// SPDX-License-Identifier: GPL-2.0-only
#include <catch2/catch.hpp>

#include <cmath>
#include <random>

#include "lib/base/histogram.h"

using fkt::Histogram;

TEST_CASE("buckets follow each other without holes over all 64 bits") {
  for (std::uint32_t bucket = 0; bucket < Histogram::bucket_of(~std::uint64_t{0}); bucket++) {
    const std::uint64_t bottom = Histogram::bottom(bucket);
    REQUIRE(Histogram::bucket_of(bottom) == bucket);
    REQUIRE(Histogram::bottom(bucket + 1) == bottom + Histogram::width(bucket));
    REQUIRE(Histogram::bucket_of(bottom + Histogram::width(bucket) - 1) == bucket);
  }
}

TEST_CASE("percentiles are within 1/64 of those of the sorted values") {
  std::mt19937_64 random(1);
  for (const double decades : {0.5, 3., 9., 18.}) {
    Histogram histogram;
    std::vector<std::uint64_t> values;
    std::uniform_real_distribution<double> exponent(0, decades);
    for (int i = 0; i < 5001; i++) {
      values.push_back(static_cast<std::uint64_t>(std::pow(10, exponent(random))));
      histogram.add(values.back());
    }
    std::sort(values.begin(), values.end());
    for (const double percent : {0.1, 1., 50., 90., 99., 100.}) {
      const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * 5001));
      const auto exact = static_cast<double>(values[rank - 1]);
      CHECK(std::abs(static_cast<double>(histogram.percentile(percent)) - exact) <= exact / 64);
    }
  }
}

TEST_CASE("octaves hold every value once") {
  Histogram histogram;
  for (const std::uint64_t value : {0, 1, 1, 7, 1000, 1023, 1024}) histogram.add(value);
  const auto octaves = histogram.octaves();
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < octaves.size(); i++) {
    count += octaves[i].count;
    if (i > 0) CHECK(octaves[i].from == octaves[i - 1].to);
  }
  CHECK(count == 7);
  CHECK(octaves.front().from == 0);
  CHECK(octaves[1].count == 2);
  CHECK(octaves.back().from == 1024);
  CHECK(octaves[octaves.size() - 2].count == 2);
}

TEST_CASE("a histogram without values has no percentile") {
  CHECK(Histogram().percentile(50) == 0);
  CHECK(Histogram().octaves().empty());
}
