// SPDX-License-Identifier: GPL-2.0-only
// Tests begins and ends that the ring joins to one word.
#include <catch2/catch.hpp>

#include <cstdint>
#include <functional>

#include "tests/unit/module/ring_harness.h"

using fkt::test::RingHarness;
using Action = std::function<void(RingHarness&)>;

TEST_CASE("the short form of a pair gives back its result and ticks, at every edge") {
  for (const std::int64_t value : {-1024, -1023, -2, -1, 0, 1, 2, 39, 1022, 1023}) {
    REQUIRE(FKT_PAIR_SHORT_VALUE(value));
    for (const std::uint64_t ticks : {0, 1, 512, 1023}) {
      const std::uint32_t arg = fkt_pair_arg_short(ticks, value);
      CHECK(fkt_pair_value(arg) == value);
      CHECK(fkt_pair_ticks(arg) == ticks);
      CHECK(arg >> FKT_ARG_BITS == 0);
    }
  }
  CHECK_FALSE(FKT_PAIR_SHORT_VALUE(1024));
  CHECK_FALSE(FKT_PAIR_SHORT_VALUE(-1025));
}

TEST_CASE("a call is one word where it can be") {
  const auto pairs = [](const Action& calls) {
    RingHarness ring({});
    ring.write(0);
    calls(ring);
    CHECK_NOTHROW(ring.finish());
    return ring.pairs();
  };
  CHECK(pairs([](RingHarness& r) { r.begin(39), r.end(1000); }) == 1);
  CHECK(pairs([](RingHarness& r) { r.begin(39), r.end(-4096), r.begin(39), r.end(-1); }) == 2);
  CHECK(pairs([](RingHarness& r) { r.begin(39), r.write(0), r.end(0); }) == 0);
  CHECK(pairs([](RingHarness& r) { r.begin(39), r.close(), r.end(0); }) == 0);
  CHECK(pairs([](RingHarness& r) { r.begin(512), r.end(0); }) == 0);
  CHECK(pairs([](RingHarness& r) { r.begin(1), r.end(1 << 16); }) == 0);
  CHECK(pairs([](RingHarness& r) { r.begin(1), r.advance(1 << 18), r.end(0); }) == 0);
  CHECK(pairs([](RingHarness& r) { r.begin(1), r.advance((1 << 18) - 3), r.end(0); }) == 1);
  CHECK(pairs([](RingHarness& r) { r.begin(1), r.end(0), r.end(0); }) == 1);
  CHECK(pairs([](RingHarness& r) { r.end(0); }) == 0);
  // The begin took the slow path, which opened a page, and so cannot be joined with its end.
  CHECK(pairs([](RingHarness& r) { r.close(), r.begin(1), r.end(0); }) == 0);
}
