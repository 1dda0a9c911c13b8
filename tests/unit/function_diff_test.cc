// SPDX-License-Identifier: GPL-2.0-only
#include <catch2/catch.hpp>

#include <random>

#include "lib/calls/function_diff.h"

using namespace fkt;

namespace {

// A realistic distribution of durations: most are short, some long.
Histogram calls(unsigned seed, std::size_t count, double factor) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> duration(8, 1.5);
  Histogram histogram;
  for (std::size_t i = 0; i < count; i++) {
    histogram.add(static_cast<std::uint64_t>(factor * duration(random)));
  }
  return histogram;
}

}  // namespace

TEST_CASE("the same durations do not differ") {
  const Histogram one = calls(1, 1000, 1);
  const auto test = rank_test(one, one, 1);
  REQUIRE(test);
  CHECK(test->slower == Approx(0.5));
  CHECK(test->p == Approx(1.0));
}

TEST_CASE("chance alone is called a difference as often as the level says") {
  int found = 0;
  for (unsigned seed = 0; seed < 400; seed++) {
    found += rank_test(calls(seed, 200, 1), calls(seed + 1000, 300, 1), 1)->p < 0.05;
  }
  CHECK(found > 5);
  CHECK(found < 40);  // 20 are expected with a standard deviation of 4.4
}

TEST_CASE("slower calls are found, and which side is slower") {
  const auto slower = rank_test(calls(1, 500, 1), calls(2, 500, 1.5), 1);
  CHECK(slower->p < 1e-3);
  CHECK(slower->slower > 0.55);
  const auto faster = rank_test(calls(1, 500, 1.5), calls(2, 500, 1), 1);
  CHECK(faster->p < 1e-3);
  CHECK(faster->slower < 0.45);
}

TEST_CASE("another clock makes no difference") {
  const auto test = rank_test(calls(3, 2000, 1), calls(3, 2000, 2.5), 2.5);
  CHECK(test->slower == Approx(0.5).margin(0.02));
}

TEST_CASE("too few calls say nothing") {
  CHECK(!rank_test(calls(1, kFewest - 1, 1), calls(2, 500, 1), 1));
  CHECK(!rank_test(calls(1, 500, 1), Histogram(), 1));
  Histogram equal;
  for (int i = 0; i < 20; i++) equal.add(7);
  CHECK(rank_test(equal, equal, 1)->p == 1);
}
