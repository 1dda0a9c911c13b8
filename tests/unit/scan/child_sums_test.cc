// SPDX-License-Identifier: GPL-2.0-only
// Tests the sums of spans by type and by the type around them, against a map.
#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <utility>

#include "lib/scan/child_sums.h"

using namespace fkt;

TEST_CASE("sums of children by their type and the type around them") {
  const TypeIndex most = GENERATE(1, 8, 300, 100'000);  // number of types
  ChildSums sums;
  std::map<std::pair<TypeIndex, TypeIndex>, std::pair<std::uint64_t, std::uint64_t>> expected;
  std::mt19937_64 random(most);
  for (unsigned i = 0; i < 20'000; i++) {
    const ChildRecord child{static_cast<TypeIndex>(random() % most),
                            static_cast<TypeIndex>(random() % most), 1 + random() % 3,
                            random() % 1'000'000};
    sums.fetch(child);
    sums.add(child);
    auto& [count, ticks] = expected[{child.around, child.type}];
    count += child.count;
    ticks += child.ticks;
  }
  std::size_t told = 0;
  sums.for_each([&](const ChildRecord& sum) {
    told++;
    const auto found = expected.find({sum.around, sum.type});
    REQUIRE(found != expected.end());
    CHECK(sum.count == found->second.first);
    CHECK(sum.ticks == found->second.second);
  });
  CHECK(told == expected.size());
}
