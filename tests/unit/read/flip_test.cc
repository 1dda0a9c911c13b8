// SPDX-License-Identifier: GPL-2.0-only
// Changes one byte of a recording and checks that the library either returns the same contents as
// before or reports damage. The environment variable FKT_FLIPS is the number of changes tried.
#include <catch2/catch.hpp>

#include <array>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <type_traits>

#include "lib/base/crc32.h"
#include "lib/base/text.h"
#include "lib/read/damage.h"
#include "lib/read/event_merge.h"
#include "tests/unit/recording_builder.h"

using namespace fkt;
using namespace fkt::test;

namespace {

class Sum {
 public:
  template <class T>
  void add(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    sum_ = crc32(std::as_bytes(std::span(&value, 1)), sum_);
  }
  void add(const std::string& text) {
    sum_ = crc32(std::as_bytes(std::span(text)), sum_);
    add(text.size());
  }
  std::uint32_t value() const { return sum_; }

 private:
  std::uint32_t sum_ = 0;
};

void add_events(const Recording& trace, Sum& sum) {
  for (const Event& e : trace.events()) {
    sum.add(e.clock);
    sum.add(e.id);
    sum.add(e.arg);
    sum.add(e.pid);
    sum.add(e.cpu);
    for (const std::uint64_t word : e.words) sum.add(word);
  }
}

void add_info(const RecordingInfo& info, Sum& sum) {
  for (const Task& task : info.tasks) {
    sum.add(task.tid);
    sum.add(task.tgid);
    sum.add(task.ppid);
    sum.add(task.comm);
  }
  for (const auto& [number, name] : info.syscalls) {
    sum.add(number);
    sum.add(name);
  }
  for (const auto& interrupt : info.interrupts) {
    sum.add(interrupt.number);
    sum.add(interrupt.devices);
    sum.add(interrupt.count);
  }
  sum.add(info.clocks.khz);
  sum.add(info.clocks.start.clock);
  sum.add(info.clocks.start.real_ns);
  sum.add(info.machine.nodename);
  for (const std::string& word : info.command.command) sum.add(word);
  if (!info.totals) return;
  sum.add(info.totals->events);
  sum.add(info.totals->lost);
  sum.add(info.totals->stop_clock);
  sum.add(info.totals->stop_reason);
}

// A checksum of everything that tools show of the recording.
std::uint32_t given(const Recording& trace) {
  Sum sum;
  add_events(trace, sum);
  add_info(trace.info(), sum);
  return sum.value();
}

Bytes recording(std::size_t group_pages) {
  RecordingBuilder builder;
  builder.in_groups(group_pages);
  builder.section(FKT_SEC_TASKS, "1\t1\t0\tinit\n42\t42\t1\tsh\n");
  builder.section(FKT_SEC_SYSCALLS, "64\t0\tread\n64\t6\tlstat\n");
  builder.section(FKT_SEC_INTERRUPTS, "14\tide0\t7\n");
  std::mt19937_64 random(1);
  std::array<std::uint64_t, 2> clocks{RecordingBuilder::kStart, RecordingBuilder::kStart};
  for (unsigned i = 0; i < 4000; i++) {
    const auto cpu = static_cast<std::uint32_t>(random() % clocks.size());
    clocks[cpu] += 1 + random() % 5000;
    builder.event(cpu, clocks[cpu], i % 2 ? FKT_E_SYS_EXIT : FKT_E_SYS_ENTRY,
                  static_cast<std::uint32_t>(random() % 300));
  }
  return builder.finish();
}

unsigned flips() {
  const char* const asked = std::getenv("FKT_FLIPS");
  return asked == nullptr ? 300 : static_cast<unsigned>(std::strtoul(asked, nullptr, 10));
}

}  // namespace

TEST_CASE("a changed byte does not change what a recording says, or is told") {
  for (const std::size_t group_pages : {0, 2}) {
    const Bytes good = recording(group_pages);
    const Result<Recording> whole = Recording::from_bytes(good);
    REQUIRE(whole);
    const std::uint32_t expected = given(*whole);
    REQUIRE(damage_of(*whole).empty());

    std::mt19937_64 random(2);
    unsigned told = 0;
    for (unsigned flip = 0; flip < flips(); flip++) {
      Bytes bad = good;
      const std::size_t offset = random() % bad.size();
      const auto by = static_cast<std::byte>(1 + random() % 255);
      bad[offset] ^= by;
      const Result<Recording> trace = Recording::from_bytes(bad);
      const bool is_same = trace && given(*trace) == expected;
      const bool is_told = !trace || !damage_of(*trace).empty();
      told += is_told;
      if (is_same || is_told) continue;
      FAIL_CHECK("group of " << group_pages << " pages, offset " << hex(offset) << ", changed by "
                             << static_cast<unsigned>(by) << ": nothing is said");
    }
    // Most bytes of a recording matter; the others are padding.
    CHECK(told > flips() / 4);
  }
}
