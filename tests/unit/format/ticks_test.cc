// SPDX-License-Identifier: GPL-2.0-only
#include <fkt/ticks.h>

#include <cstdint>

#include <catch2/catch.hpp>

TEST_CASE("no time has passed since a moment of a clock that is ahead") {
  CHECK(fkt_ticks_between(1000, 1500) == 500);
  CHECK(fkt_ticks_between(1000, 1000) == 0);
  CHECK(fkt_ticks_between(1000, 999) == 0);
  CHECK(fkt_ticks_between(UINT64_MAX - 4, 5) == 10);
  CHECK(fkt_ticks_between(5, UINT64_MAX - 4) == 0);
}

TEST_CASE("a conversion whose result has more than 64 bits does not trap") {
  // Of ticks to ns, by clocks of 3 GHz and of 800 MHz: as module/ring/clock.c does it.
  CHECK(fkt_ticks_convert(3'000'000, 1'000'000, 3'000'000) == 1'000'000);
  CHECK(fkt_ticks_convert(UINT64_MAX, 1'000'000, 3'000'000) == UINT64_MAX / 3);
  CHECK(fkt_ticks_convert(UINT64_MAX, 1'000'000, 800'000) == UINT64_MAX);
  CHECK(fkt_ticks_convert(UINT64_MAX - 1000, 3'000'000, 1'000'000) == UINT64_MAX);
  CHECK(fkt_ticks_convert(UINT64_MAX, 1'000'000, 1'000'000) == UINT64_MAX);
  CHECK(fkt_ticks_convert(1, 1, 0) == UINT64_MAX);
  CHECK(fkt_ticks_convert(0, 1'000'000, 800'000) == 0);
}
