// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/event_merge.h"

#include <iterator>
#include <random>

#include <catch2/catch.hpp>

#include "tests/unit/analyzed.h"
#include "tests/unit/recording_builder.h"

using fkt::Event;
using fkt::Recording;
using fkt::test::Bytes;
using fkt::test::opened;
using fkt::test::RecordingBuilder;
using fkt::test::T;

namespace {

// Writes random events on `cpus` CPUs and checks that each is read back once, in order.
void round_trip(std::uint32_t cpus, std::uint32_t events, unsigned seed) {
  std::mt19937 random(seed);
  RecordingBuilder b;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> expected;  // clock, cpu
  std::uint64_t clock = T;
  for (std::uint32_t i = 0; i < events; ++i) {
    clock += random() % 3;  // equal times are common
    const std::uint32_t cpu = random() % cpus;
    b.event(cpu, clock, FKT_E_NMI, i);
    expected.emplace_back(clock, cpu);
  }
  std::ranges::sort(expected);
  const Recording trace = opened(b.finish());
  for (const bool ahead : {false, true}) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> found;
    std::vector<std::uint32_t> last_argument(cpus);
    for (const Event& e : trace.events({.from = {}, .to = {}, .cpu = {}, .ahead = ahead})) {
      REQUIRE(e.arg + 1 > last_argument[e.cpu]);
      last_argument[e.cpu] = e.arg + 1;
      found.emplace_back(e.clock, e.cpu);
    }
    CHECK(found == expected);
  }
}

}  // namespace

static_assert(std::input_iterator<fkt::EventRange::iterator>);
static_assert(std::sentinel_for<std::default_sentinel_t, fkt::EventRange::iterator>);

TEST_CASE("one CPU, few, and 256: every event once, in time order, ties by CPU number") {
  round_trip(1, 5000, 1);
  round_trip(2, 5000, 2);
  round_trip(3, 20000, 3);
  round_trip(256, 20000, 4);
}

TEST_CASE("a CPU that is alone for long, and one that comes late") {
  RecordingBuilder b;
  for (std::uint32_t i = 0; i < 3000; ++i) b.event(5, T + i, FKT_E_NMI, i);
  b.event(1, T + 10'000, FKT_E_NMI);
  const Recording trace = opened(b.finish());
  std::uint64_t count = 0;
  std::uint32_t last_cpu = 0;
  for (const Event& e : trace.events()) {
    ++count;
    last_cpu = e.cpu;
  }
  CHECK(count == 3001);
  CHECK(last_cpu == 1);
}

TEST_CASE("pages that another thread prepares need not be read to the end") {
  RecordingBuilder b;
  for (std::uint32_t i = 0; i < 100; ++i) {
    b.event(i % 3, T + i, FKT_E_NMI, i);
    b.close_page(i % 3);
  }
  const Recording trace = opened(b.finish());
  for (std::uint32_t stop = 0; stop <= 100; stop += 9) {
    fkt::EventRange events = trace.events({.from = T + 10, .to = {}, .cpu = {}, .ahead = true});
    std::uint32_t next = 10;
    for (const Event& e : events) {
      if (next >= stop) break;
      REQUIRE(e.arg == next++);
    }
    CHECK(next == std::max(10U, stop));
  }
}

TEST_CASE("a page that goes back in time is left out, with a note and a gap") {
  RecordingBuilder b;
  b.event(0, T + 100, FKT_E_NMI, 1).close_page(0);
  b.event(0, T + 200, FKT_E_NMI, 2).close_page(0);
  b.event(0, T + 300, FKT_E_NMI, 3);
  Bytes file = b.finish();
  auto header = RecordingBuilder::get<fkt_page_header>(file, b.page_offset(1));
  header.first_clock -= 150;
  header.checksum = fkt_page_checksum(&header);
  RecordingBuilder::put(file, b.page_offset(1), header);
  const Recording trace = opened(file);
  std::vector<std::uint32_t> arguments;
  std::vector<std::uint64_t> gap;
  for (const Event& e : trace.events()) {
    if (e.id == fkt::kGapBegins) continue;
    if (e.id == FKT_W_LOST) {
      gap = {e.words[0], e.words[1] - T, e.clock - T};
    } else {
      arguments.push_back(e.arg);
    }
  }
  CHECK(arguments == std::vector<std::uint32_t>{1, 3});
  CHECK(gap == std::vector<std::uint64_t>{0, 100, 300});
  CHECK(trace.integrity().damaged_pages == 1);
  REQUIRE(trace.integrity().notes.size() == 1);
  CHECK(trace.integrity().notes[0].ends_with("it begins before the CPU's last event"));
}

TEST_CASE("an index that takes a page for another is found out") {
  RecordingBuilder b;
  b.event(0, T + 100, FKT_E_NMI, 1).event(1, T + 200, FKT_E_NMI, 2);
  const fkt_index_entry swapped[] = {{T + 100, T + 100, 0, 1, 1}, {T + 200, T + 200, 0, 0, 1}};
  b.section(FKT_SEC_INDEX, {reinterpret_cast<const char*>(swapped), sizeof swapped});
  const Recording trace = opened(b.finish());
  for (const Event& e : trace.events()) FAIL("event on cpu " << e.cpu);
  CHECK(trace.integrity().damaged_pages == 2);
}

TEST_CASE("losses that only a page's header knows are a gap, and counted") {
  RecordingBuilder b;
  b.event(0, T + 100, FKT_E_NMI).close_page(0).event(0, T + 200, FKT_E_NMI);
  Bytes file = b.finish(RecordingBuilder::Tail::none);
  auto header = RecordingBuilder::get<fkt_page_header>(file, b.page_offset(1));
  header.lost = 12;
  header.checksum = fkt_page_checksum(&header);
  RecordingBuilder::put(file, b.page_offset(1), header);
  const Recording trace = opened(file);
  CHECK(trace.integrity().lost == 12);
  std::uint64_t lost = 0;
  for (const Event& e : trace.events()) lost += e.id == FKT_W_LOST ? e.words[0] : 0;
  CHECK(lost == 12);
}

TEST_CASE("the first page at hand is not the CPU's first: its gap's count is not known, so 0") {
  RecordingBuilder b;
  b.event(0, T, FKT_E_NMI).lost(0, T + 1, T + 5, 30).event(0, T + 5, FKT_E_NMI);
  b.lost(0, T + 6, T + 7, 4).event(0, T + 7, FKT_E_NMI);
  Bytes file = b.finish(RecordingBuilder::Tail::none);
  const auto first = file.begin() + static_cast<std::ptrdiff_t>(b.pages_offset());
  file.erase(first, first + 4096);
  const Recording trace = opened(file);
  std::vector<std::uint64_t> counts;
  for (const Event& e : trace.events()) {
    if (e.id == FKT_W_LOST) counts.push_back(e.words[0]);
  }
  CHECK(counts == std::vector<std::uint64_t>{0, 4});
  CHECK(trace.integrity().lost == 34);
}
