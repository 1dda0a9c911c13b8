// SPDX-License-Identifier: GPL-2.0-only
// Tests that a recording's clock continues after a sleep of the machine, whatever the counter did
// meanwhile.
#include <catch2/catch.hpp>

#include <random>

#include <fkt/sleep.h>

namespace {

constexpr std::uint64_t kTicksPerSecond = 2'000'000'000;  // ticks
constexpr std::uint64_t kSlack = 2 * kTicksPerSecond;

// The clock after the sleep.
std::uint64_t clock(std::uint64_t before, std::uint64_t slept, std::uint64_t now) {
  return now + fkt_sleep_offset(before, slept, now, kSlack);
}

}  // namespace

TEST_CASE("a counter that counted the sleep is taken as it is") {
  CHECK(fkt_sleep_offset(1000, 10 * kTicksPerSecond, 1000 + 10 * kTicksPerSecond, kSlack) == 0);
  // The length of the sleep comes from a clock that counts seconds.
  CHECK(fkt_sleep_offset(1000, 10 * kTicksPerSecond, 1000 + 11 * kTicksPerSecond, kSlack) == 0);
  CHECK(fkt_sleep_offset(1000, 10 * kTicksPerSecond, 1000 + 9 * kTicksPerSecond, kSlack) == 0);
  CHECK(fkt_sleep_offset(1000, 0, 1000, kSlack) == 0);
}

TEST_CASE("a counter that stood still or began anew is made to go on behind the sleep") {
  constexpr std::uint64_t kBefore = 500 * kTicksPerSecond, kHour = 3600 * kTicksPerSecond;
  CHECK(clock(kBefore, kHour, kBefore) == kBefore + kHour);
  CHECK(clock(kBefore, kHour, kTicksPerSecond) == kBefore + kHour);
  CHECK(clock(kBefore, kHour, 700 * kTicksPerSecond) == kBefore + kHour);
  // A short sleep: one tick back is a step back, however little that is.
  CHECK(clock(kBefore, kTicksPerSecond, kBefore - 1) == kBefore + kTicksPerSecond);
  CHECK(clock(kBefore, 0, 5) == kBefore);
}

TEST_CASE("whatever the counter says after a sleep, the clock never steps back") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; i++) {
    const std::uint64_t before = random() >> (1 + random() % 60);
    const std::uint64_t slept = random() >> (2 + random() % 60);
    const std::uint64_t now = random() >> (1 + random() % 60);
    const std::uint64_t after = clock(before, slept, now);
    CHECK(after >= before);
    CHECK((after >= before + slept ? after - before - slept : before + slept - after) <= kSlack);
  }
}
