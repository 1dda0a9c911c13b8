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

TEST_CASE("rows from 1 to 2 to 5 hold every value once") {
  Histogram histogram;
  for (const std::uint64_t value : {0, 1, 1, 7, 1000, 1023, 2100}) histogram.add(value);
  const auto rows = histogram.rows(1);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < rows.size(); i++) {
    count += rows[i].count;
    if (i > 0) CHECK(rows[i].from == rows[i - 1].to);
  }
  CHECK(count == 7);
  CHECK(rows.front().from == 0);
  CHECK(rows.front().to == 1);
  CHECK(rows[1].count == 2);  // 1 <= value < 2
  CHECK(rows[3].from == 5);
  CHECK(rows[3].count == 1);
  CHECK(rows.back().from == 2000);
  CHECK(rows.back().to == 5000);
  CHECK(rows[rows.size() - 2].count == 2);
}

TEST_CASE("bounds are round in the unit, not in ticks") {
  Histogram histogram;
  for (const std::uint64_t value : {2500, 30'000, 31'000}) histogram.add(value);
  const auto rows = histogram.rows(2.5);  // ticks of a ns
  REQUIRE(rows.size() == 4);
  CHECK(rows.front().from == 2500);  // 1 us
  CHECK(rows.front().to == 5000);
  CHECK(rows.back().from == 25'000);  // 10 us
  CHECK(rows.back().count == 2);
}

TEST_CASE("many values in a narrow range get finer rows, few do not") {
  Histogram many, few;
  for (std::uint64_t i = 0; i < 1000; i++) many.add(1000 + i);
  for (std::uint64_t i = 0; i < 10; i++) few.add(1000 + 99 * i);
  CHECK(few.rows(1).size() == 1);
  const auto rows = many.rows(1);
  REQUIRE(rows.size() >= 3);
  CHECK(rows[0].from == 1000);
  CHECK(rows[0].to == 1200);
  CHECK(rows[0].count >= 200 - 1200 / 64);
  CHECK(rows[0].count <= 200 + 1200 / 64);
}

TEST_CASE("the longest time has a row") {
  Histogram histogram;
  histogram.add(~std::uint64_t{0});
  REQUIRE(histogram.rows(1).size() == 1);
  CHECK(histogram.rows(1)[0].count == 1);
}

TEST_CASE("a bucket takes more values than 32 bits count") {
  constexpr std::uint64_t kMany = std::uint64_t{3} << 32;
  Histogram all, part;
  part.add_bucket(Histogram::bucket_of(100), kMany - 1);
  part.add_bucket(Histogram::bucket_of(7), 2);
  all.add_bucket(Histogram::bucket_of(100), 5);
  all.add(part);
  all.add(part);
  CHECK(all.count() == 2 * kMany + 7);
  std::vector<std::uint64_t> counts;
  all.for_each([&](std::uint32_t, std::uint64_t count) { counts.push_back(count); });
  CHECK(counts == std::vector<std::uint64_t>{4, 2 * kMany + 3});
  CHECK(all.percentile(50) == Histogram::bottom(Histogram::bucket_of(100)) + 1);
  std::uint64_t in_rows = 0;
  for (const Histogram::Row& row : all.rows(1)) in_rows += row.count;
  CHECK(in_rows == all.count());
}

TEST_CASE("a histogram without values has no percentile") {
  CHECK(Histogram().percentile(50) == 0);
  CHECK(Histogram().rows(1).empty());
}
