// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/clocks.h"

#include <catch2/catch.hpp>

using namespace fkt;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
// 2001-09-09 01:46:40 UTC.
constexpr std::uint64_t kReal = 1'000'000'000 * kSecond;

// 2.5 GHz; the recording starts at tick 5000.
Clocks clocks() {
  Clocks c;
  c.source = "tsc";
  c.khz = 2'500'000;
  c.start = {5000, 100, 200, kReal};
  return c;
}

std::uint64_t time_of(std::string_view text, const Clocks& c, std::uint64_t last = 0) {
  RecordingInfo info;
  info.clocks = c;
  const auto clock = parse_time(text, info, last);
  if (!clock) FAIL(clock.error().message);
  return *clock;
}

}  // namespace

TEST_CASE("ticks and nanoseconds, from the kernel's frequency and from a measured one") {
  Clocks c = clocks();
  CHECK(c.ticks_per_second() == 2.5e9);
  CHECK(ticks_to_ns(c, 2500) == 1000);
  // In 10 s the counter advanced by 1 in 1000 more than the kernel's frequency.
  c.end = {5000 + 25'025'000'000, 100 + 10 * kSecond, 200 + 10 * kSecond, kReal + 10 * kSecond};
  CHECK(c.ticks_per_second() == Approx(2.5025e9));
  // Too short to measure the frequency.
  c.end = {5000 + 25'025'000, 100 + 10'000'000, 0, 0};
  CHECK(c.ticks_per_second() == 2.5e9);
}

TEST_CASE("a file that says nothing of its clocks counts in nanoseconds") {
  const Clocks c;
  CHECK(c.ticks_per_second() == 1e9);
  CHECK(ticks_to_ns(c, 7) == 7);
}

TEST_CASE("wall clock of a stamp") {
  Clocks c = clocks();
  CHECK(c.real_ns(5000) == kReal);
  CHECK(c.real_ns(5000 + 2500) == kReal + 1000);
  CHECK(c.real_ns(2500) == kReal - 1000);
  // The wall clock was slewed: it advanced by 11 s in 10 s.
  c.end = {5000 + 25'000'000'000, 100 + 10 * kSecond, 200 + 10 * kSecond, kReal + 11 * kSecond};
  CHECK(c.real_ns(c.end->clock) == kReal + 11 * kSecond);
  CHECK(c.real_ns(5000 + 12'500'000'000) == kReal + 11 * kSecond / 2);

  CHECK(wall_clock_text(kReal + 5, 0) == "01:46:40.000000005");
  CHECK(wall_clock_text(kReal, 2 * 3600) == "03:46:40.000000000");
  CHECK(wall_clock_text(kReal, -2 * 3600) == "23:46:40.000000000");
}

TEST_CASE("durations as users type them") {
  const auto ticks = [](std::string_view text) {
    const auto result = parse_duration(text, 2.5e9);
    if (!result) FAIL(result.error().message);
    return *result;
  };
  CHECK(ticks("12000") == 12000);
  CHECK(ticks("100ns") == 250);
  CHECK(ticks("3us") == 7500);
  CHECK(ticks("1.5ms") == 3'750'000);
  CHECK(ticks("0.000000001s") == 3);  // 2.5, rounded up
  CHECK(ticks("2s") == 5'000'000'000);
  CHECK(ticks("99999999999999999s") == ~0ULL);
}

TEST_CASE("what is no time is refused, quoted") {
  const char* bad = GENERATE("", "s", "ns", "1.5", "-1s", "1 s", "1.s", ".5s", "1.-5s", "1m", "5x",
                             "1e3s", "0x10", "99999999999999999999", "24:00:00", "1:60:00",
                             "12:00:61", "12:00:00.", "::", "12", "12:", "1:2:3:4");
  const std::string text = bad;
  if (text == "12") return;  // a valid number of cycles
  INFO(text);
  RecordingInfo info;
  info.clocks = clocks();
  const auto result = parse_time(text, info, 0);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::usage);
  CHECK(result.error().message.starts_with("\"" + text + "\" is no time"));
}

TEST_CASE("moments count from the recording's start, or are the wall clock's") {
  Clocks c = clocks();
  CHECK(time_of("0", c) == 5000);
  CHECK(time_of("1us", c) == 7500);
  CHECK(time_of("01:46:40", c) == 5000);
  CHECK(time_of("1:46:41", c) == 5000 + 2'500'000'000);
  CHECK(time_of("01:46:40.000001", c) == 7500);
  CHECK(time_of("01:47", c) == 5000 + 20 * 2'500'000'000);
  CHECK(time_of("00:00:00", c) == 5000);  // before the start
  c.zone_seconds = 3600;
  CHECK(time_of("02:46:41", c) == 5000 + 2'500'000'000);
  CHECK(time_of("99999999999s", c) == ~0ULL);
}

TEST_CASE("a recording that runs past midnight") {
  Clocks c = clocks();
  c.zone_seconds = -2 * 3600;  // starts at 23:46:40
  const std::uint64_t last = 5000 + 3600 * 2'500'000'000;
  CHECK(time_of("00:00:00", c, last) == 5000 + 800 * 2'500'000'000);
  CHECK(time_of("23:46:41", c, last) == 5000 + 2'500'000'000);
  CHECK(time_of("12:00:00", c, last) == 5000);  // not in the recording
}

TEST_CASE("a wall clock that was set while recording") {
  Clocks c = clocks();
  const auto after = [](std::uint64_t seconds) { return 5000 + seconds * 2'500'000'000; };
  // Read each minute; set forward by an hour in the second minute, back by two in the third.
  const std::uint64_t hour = 3600 * kSecond;
  c.between = {{after(60), 0, 0, kReal + 60 * kSecond},
               {after(120), 0, 0, kReal + 120 * kSecond + hour},
               {after(180), 0, 0, kReal + 180 * kSecond - hour}};
  CHECK(c.real_ns(after(30)) == kReal + 30 * kSecond);
  CHECK(c.real_ns(after(90)) == kReal + 90 * kSecond);
  CHECK(c.real_ns(after(120)) == kReal + 120 * kSecond + hour);
  CHECK(c.real_ns(after(150)) == kReal + 150 * kSecond + hour);
  CHECK(c.real_ns(after(200)) == kReal + 200 * kSecond - hour);
  CHECK(time_of("01:47:10", c, after(240)) == after(30));
  CHECK(time_of("02:48:50", c, after(240)) == after(130));
  CHECK(time_of("02:10", c, after(240)) == after(120));  // never shown: when it had been set
}

TEST_CASE("the zero of all times is in the head, whatever the tail says") {
  RecordingInfo info;
  info.clocks.khz = 1'000'000;
  info.clocks.start = {1000, 0, 0, 0};
  CHECK(*parse_time("5ns", info, 9000) == 1005);
  info.totals = Totals{};
  info.totals->start_clock = 3000;
  CHECK(recording_start(info) == 1000);
  CHECK(*parse_time("5ns", info, 9000) == 1005);
  CHECK(*parse_time("0", info, 9000) == 1000);
  CHECK(*parse_time("00:00:00.000001", info, 9000) == 2000);
  CHECK_FALSE(parse_time("soon", info, 9000));
}
