// SPDX-License-Identifier: GPL-2.0-only
// Tests that an observer which does not take events, for which spans that end with the next event
// of their CPU are never put on a stack, is told the same slices and wake-ups as one that does.
#include <catch2/catch.hpp>

#include <vector>

#include "lib/timeline/timeline.h"
#include "tests/unit/call_recording.h"
#include "tests/unit/random_recording.h"

using namespace fkt;
using namespace fkt::test;

namespace {

struct Told : StateObserver {
  std::vector<std::vector<std::uint64_t>> all;
  std::uint64_t events = 0;

  explicit Told(bool takes_events) : StateObserver(takes_events) {}
  void slice(const Slice& of) override {
    all.push_back({static_cast<std::uint64_t>(of.kind), of.depth, of.begun, of.ended, of.cpu,
                   of.task, of.value, of.in, of.from, of.to, of.told});
  }
  void wake(const Wake& of) override {
    all.push_back({of.waker, of.task, of.waker_cpu, of.cpu, of.woken, of.runs});
  }
  void event(const Event&, TaskIndex, const Step&) override { events++; }
};

// By both ways of telling, from the state at `from` (ticks) on.
void check_alike(const Timeline& timeline, std::uint64_t from) {
  Told with(true), without(false);
  timeline.follow(from, timeline.end(), with);
  timeline.follow(from, timeline.end(), without);
  CHECK(with.events > 0);
  CHECK(without.events == 0);
  CHECK(with.all == without.all);
}

void check_recording(const Bytes& file) {
  Result<Trace> trace = Trace::from_bytes(file);
  REQUIRE(trace);
  trace->split();
  Timeline timeline(*trace);
  PassControl control;
  Told with(true), without(false);
  timeline.read(control, &without);
  Timeline again(*trace);
  again.read(control, &with);
  CHECK(with.all.size() > 100);
  CHECK(without.events == 0);
  CHECK(with.all == without.all);
  const std::uint64_t begin = timeline.begin(), ticks = timeline.end() - begin;
  for (const std::uint64_t part : {1, 2, 3}) check_alike(timeline, begin + ticks / 4 * part);
}

}  // namespace

TEST_CASE("slices do not depend on whether events are told too: random recordings") {
  using Kind = RandomRecording::Kind;
  for (std::uint64_t seed = 1; seed <= 12; seed++) {
    for (const Kind kind : {Kind::all, Kind::lossless, Kind::plain, Kind::gaps, Kind::few}) {
      INFO("seed " << seed << ", kind " << static_cast<int>(kind));
      check_recording(RandomRecording(seed, 1 + seed % 5, 1500, kind).finish());
    }
  }
}

TEST_CASE("slices do not depend on whether events are told too: whole calls") {
  using Kind = CallRecording::Kind;
  for (std::uint64_t seed = 1; seed <= 12; seed++) {
    for (const Kind kind : {Kind::whole, Kind::prompt, Kind::switches, Kind::gaps, Kind::held}) {
      INFO("seed " << seed << ", kind " << static_cast<int>(kind));
      check_recording(CallRecording(seed, 1 + seed % 4, 1500, kind).finish());
    }
  }
}
