// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/clock_events.h"

#include <catch2/catch.hpp>

#include "tests/unit/recording_builder.h"

using namespace fkt;

TEST_CASE("clock events of all CPUs, in the order of time") {
  constexpr std::uint64_t kStart = test::RecordingBuilder::kStart;
  test::RecordingBuilder b;
  b.event(0, kStart + 900, FKT_E_CLOCK, 0, {3, 4, 5});
  b.event(1, kStart + 100, FKT_E_SYS_ENTRY, 39);
  b.event(1, kStart + 200, FKT_E_CLOCK, 0, {6, 7, 8});
  const Result<Recording> trace = Recording::from_bytes(b.finish());
  REQUIRE(trace);
  const std::vector<ClockPair> pairs = info_with_clock_events(*trace).clocks.between;
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].clock == kStart + 200);
  CHECK(pairs[0].real_ns == 8);
  CHECK(pairs[1].clock == kStart + 900);
  CHECK(pairs[1].mono_raw_ns == 3);
  CHECK(pairs[1].mono_ns == 4);
}

TEST_CASE("a file's catalogue that gives clock events fewer words") {
  constexpr std::uint64_t kStart = test::RecordingBuilder::kStart;
  std::string lines = Catalogue::builtin().to_lines();
  const std::size_t begin = lines.find("event\t4\tclock\t");
  REQUIRE(begin != lines.npos);
  lines.replace(begin, lines.find('\n', begin) - begin,
                "event\t4\tclock\tfkt\tpoint\t1\tmono_raw:u:1:0:64");
  test::RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE, lines);
  b.event(0, kStart + 900, FKT_E_CLOCK, 0, {3});
  const Result<Recording> trace = Recording::from_bytes(b.finish());
  REQUIRE(trace);
  CHECK(info_with_clock_events(*trace).clocks.between.empty());
}
