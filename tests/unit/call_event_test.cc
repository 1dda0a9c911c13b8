// SPDX-License-Identifier: GPL-2.0-only
// Tests the events of calls of functions: their words, and how they are shown.
#include <catch2/catch.hpp>

#include <fkt/call_event.h>

#include "cli/fkt_record/instruments/call_setup.h"
#include "tests/golden/recordings.h"

using namespace fkt;
using namespace fkt::test;

namespace {

constexpr std::uint64_t T = TraceBuilder::kStart;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string refusal(const std::string& text) {
  const Result<Instrument> instrument = Instrument::parse(text);
  REQUIRE(instrument);
  const Status good = record::check_instrument(*instrument);
  return good ? "" : good.error().message;
}

}  // namespace

TEST_CASE("a call's word has its duration, and its begin together with the event's time") {
  constexpr std::uint64_t kMost = (std::uint64_t{1} << FKT_CALL_TICK_BITS) - 1;
  constexpr std::uint64_t kFar = (std::uint64_t{1} << FKT_CALL_BEGIN_BITS) - 1;
  for (const std::uint64_t begin :
       {std::uint64_t{0}, std::uint64_t{1}, T, ~std::uint64_t{0} - kFar}) {
    for (const std::uint64_t ticks : {std::uint64_t{0}, std::uint64_t{17}, kMost}) {
      REQUIRE(fkt_call_is_short(ticks));
      const std::uint64_t word = fkt_call_word(begin, ticks);
      CHECK(fkt_call_ticks(word) == ticks);
      for (const std::uint64_t later : {ticks, ticks + 40, kFar}) {
        CHECK(fkt_call_begin(word, begin + later) == begin);
      }
    }
  }
  CHECK_FALSE(fkt_call_is_short(kMost + 1));
}

TEST_CASE("a call is shown with its function's name and its duration") {
  TraceBuilder b;
  b.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + "name\tfunction\t3\tvfs_read\n");
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_CALL, 3, {fkt_call_word(T + 40, 50)});
  b.event(0, T + 200, FKT_E_CALL_LONG, 3, {std::uint64_t{1} << 40, T + 200 - (1ULL << 40)});
  b.event(0, T + 300, FKT_E_CALL, 9, {fkt_call_word(T + 290, 7)});
  const Analyzed a(b);
  CHECK(has(a.dump(), "0500 vfs_read duration=50\n"));
  CHECK(has(a.dump(), "0501 vfs_read duration=1099511627776\n"));
  CHECK(has(a.dump(), "0500 call 9 duration=7\n"));
  CHECK(has(a.counts(), "3\tinstruments\tcall\n"));
}

TEST_CASE("what cannot be recorded of a call is refused") {
  CHECK(refusal("call:vfs_* if duration > 1ms do record").empty());
  CHECK(has(refusal("fn:vfs_read"), "only calls of functions"));
  CHECK(has(refusal("tp:sched:*"), "only calls of functions"));
  CHECK(has(refusal("call:vfs_read do count"), "can only be recorded"));
  CHECK(has(refusal("call:vfs_read(count)"), "no values"));
  CHECK(has(refusal("call:vfs_read ret"), "no values"));
}
