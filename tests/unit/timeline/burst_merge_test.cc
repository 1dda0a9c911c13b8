// SPDX-License-Identifier: GPL-2.0-only
// Compares a timeline that was read in bursts with one that was read event by event: the lanes, the
// counts, the damage, and what follows from copies of the state.
#include <catch2/catch.hpp>

#include <map>
#include <random>

#include <fmt/core.h>

#include "lib/read/damage.h"
#include "lib/timeline/burst_merge.h"
#include "lib/timeline/lanes.h"
#include "lib/timeline/timeline.h"
#include "tests/unit/busy_recording.h"
#include "tests/unit/call_recording.h"
#include "tests/unit/how_many.h"

using namespace fkt;
using namespace fkt::test;

namespace {

using Text = std::map<std::tuple<LaneKind, std::uint32_t, int>, std::string>;

// Fails with the first lane that is not the same.
void check_same(const Text& expected, const Text& found) {
  for (const auto& [lane, text] : expected) {
    const auto other = found.find(lane);
    const auto& [kind, id, depth] = lane;
    INFO("lane " << static_cast<int>(kind) << ' ' << id << ", depth " << depth);
    REQUIRE(text == (other == found.end() ? std::string() : other->second));
  }
  CHECK(expected.size() == found.size());
}

// Writes down the slices of each lane and depth. Types are written by their names: their numbers
// depend on which was met first.
class Writer : public StateObserver {
 public:
  Writer(const Timeline& timeline, bool wants_events)
      : timeline_(timeline), wants_events_(wants_events) {}
  bool wants_events() const override { return wants_events_; }
  void slice(const Slice& slice) override {
    LaneId lane = lane_of(slice);
    if (lane.kind == LaneKind::async) lane.id = 0;
    const bool has_type = slice.kind != SliceKind::run && slice.kind != SliceKind::state;
    text[{lane.kind, lane.id, slice.depth}] += fmt::format(
        "{} {} {} {} cpu {} task {} in {}: {} to {} told {}\n", static_cast<int>(slice.kind),
        has_type ? timeline_.types()[slice.value].name : std::to_string(slice.value), slice.begun,
        slice.ended, slice.cpu, slice.task,
        slice.in == kNoType ? "-" : timeline_.types()[slice.in].name, slice.from, slice.to,
        has_type ? slice.told : 0);
    slices++;
  }
  void wake(const Wake& wake) override {
    text[{LaneKind::task, wake.task, -1}] +=
        fmt::format("woken by {} on {} at {}, runs on {} at {}\n", wake.waker, wake.waker_cpu,
                    wake.woken, wake.cpu, wake.runs);
  }

  Text text;
  std::size_t slices = 0;

 private:
  const Timeline& timeline_;
  const bool wants_events_;
};

struct Read {
  Recording trace;
  Timeline timeline;
  Writer seen;
  Read(const Bytes& file, bool by_events)
      : trace(std::move(*Recording::from_bytes(file))), timeline(trace), seen(timeline, by_events) {
    PassControl control;
    timeline.read(control, &seen);
    done = control.done;
  }
  auto part(std::uint64_t from, std::uint64_t to) const {
    Writer writer(timeline, true);
    timeline.follow(from, to, writer);
    return writer.text;
  }
  std::uint64_t done = 0;
};

void check_same(const Bytes& file) {
  const Read one(file, true), other(file, false);
  CHECK(one.seen.slices == other.seen.slices);
  check_same(one.seen.text, other.seen.text);
  CHECK(one.done == other.done);
  CHECK(one.timeline.end() == other.timeline.end());
  CHECK(one.trace.integrity().events == other.trace.integrity().events);
  CHECK(one.trace.integrity().lost == other.trace.integrity().lost);
  CHECK(damage_of(one.trace) == damage_of(other.trace));
  const std::uint64_t begin = one.timeline.begin(), span = one.timeline.end() - begin;
  // Many parts, so that some begin right behind a copy of the state.
  const std::uint64_t parts = 4 + one.done / 200;
  for (std::uint64_t n = 0; n < parts; n++) {
    const std::uint64_t from = begin + span / parts * n, to = from + span / parts / 8 + 1;
    check_same(one.part(from, to), other.part(from, to));
  }
}

// The number of events that are handed out in bursts, and of all.
std::pair<std::uint64_t, std::uint64_t> in_bursts(const Bytes& file) {
  const Recording trace = std::move(*Recording::from_bytes(file));
  const SpanTypes types(trace.info());
  const Meanings meanings(trace.info().catalogue, types.kinds());
  BurstMerge merge(trace, meanings, kForever, {});
  std::uint64_t bursts = 0, all = 0;
  for (; !merge.at_end(); merge.next()) {
    const std::uint32_t events = merge.events();
    all += events;
    if (events > 1) bursts += events;
    for (std::uint32_t n = 1; n < events; n++) merge.step();
  }
  return {bursts, all};
}

// Compares a density that gets the pages while a time line reads them with one that reads them
// itself. Returns how many pages are damaged.
std::size_t check_density(const Bytes& file) {
  const Recording trace = std::move(*Recording::from_bytes(file));
  const Recording other = std::move(*Recording::from_bytes(file));
  PassControl control, pass, rest;
  const Density alone(other, 1, control);
  Density on_the_way(trace);
  Timeline timeline(trace);
  Writer writer(timeline, false);
  timeline.read(pass, &writer, [&](std::uint32_t number, const Result<Page>& page) {
    on_the_way.add(number, page);
  });
  on_the_way.finish(1, rest);
  CHECK(on_the_way.layers() == alone.layers());
  for (const std::uint32_t cells : {1U, 7U, 300U, 4000U}) {
    const TimeScale scale{timeline.begin(), timeline.end(), cells};
    CHECK(on_the_way.cells(scale, 0).events == alone.cells(scale, 0).events);
  }
  REQUIRE(on_the_way.gaps().size() == alone.gaps().size());
  for (std::size_t i = 0; i < alone.gaps().size(); i++) {
    const Gap &got = on_the_way.gaps()[i], &wanted = alone.gaps()[i];
    CHECK(std::tuple(got.cpu, got.from, got.to, got.lost) ==
          std::tuple(wanted.cpu, wanted.from, wanted.to, wanted.lost));
  }
  REQUIRE(on_the_way.damage().size() == alone.damage().size());
  for (std::size_t i = 0; i < alone.damage().size(); i++) {
    CHECK(on_the_way.damage()[i].page == alone.damage()[i].page);
    CHECK(on_the_way.damage()[i].error.message == alone.damage()[i].error.message);
  }
  return alone.damage().size();
}

}  // namespace

TEST_CASE("in bursts: tasks that fork, exec, exit and migrate, gaps") {
  using Kind = RandomRecording::Kind;
  for (const Kind kind : {Kind::all, Kind::lossless, Kind::plain, Kind::gaps, Kind::few}) {
    for (unsigned seed = 0; seed < recordings(12); seed++) {
      INFO("seed " << seed << " kind " << static_cast<int>(kind));
      check_same(RandomRecording(seed, 1 + seed % 5, 4000, kind).finish());
    }
  }
}

TEST_CASE(
    "in bursts: calls, pairs, nested interrupts, one thread on two CPUs, copies of the state") {
  for (unsigned seed = 0; seed < recordings(24); seed++) {
    INFO("seed " << seed);
    const Bytes file = BusyRecording(seed, 1 + seed % 5, seed % 4 == 0 ? 6000 : 900).finish();
    check_same(file);
    const auto [bursts, all] = in_bursts(file);
    CHECK(bursts > all / 8);
    const Recording trace = std::move(*Recording::from_bytes(file));
    CHECK(all == static_cast<std::uint64_t>(std::ranges::distance(trace.events())));
  }
}

TEST_CASE("in bursts: calls of functions that are written at their ends") {
  using Kind = CallRecording::Kind;
  for (const Kind kind : {Kind::whole, Kind::switches, Kind::gaps, Kind::prompt}) {
    for (unsigned seed = 0; seed < recordings(12); seed++) {
      INFO("seed " << seed << " kind " << static_cast<int>(kind));
      check_same(CallRecording(seed, 1 + seed % 5, 1500, kind).finish());
    }
  }
}

// Each kind of pair whose end may end something else than what its begin has begun, and of those
// whose end cannot (Meanings::ends_its_begin).
TEST_CASE("in bursts: pairs whose ends have other keys, or are of other kinds") {
  const std::string lines =
      "event\t7a0\ta_begin\t0\tbegin:a\t0\tnr:u:0:0:24:key\n"
      "event\t7a1\ta_end\t0\tend:a\t0\tnr:u:0:0:24:key\n"
      "event\t7a2\ta_end_shifted\t0\tend:a\t0\tnr:u:0:1:23:key\n"
      "event\t7a3\tb_begin\t0\tbegin:b\t0\tnr:u:0:0:24:key\n"
      "event\t7a4\tb_end\t0\tend:b\t0\tnr:u:0:0:24:key\n"
      "event\t7a5\tc_begin\t0\tbegin:c\t0\t\n"
      "event\t7a6\tc_end\t0\tend:c\t0\t\n"
      "pair\tf00\t16\t7a0\t7a1\tnumber\n"
      "pair\tf10\t16\t7a0\t7a1\tvalue\n"
      "pair\tf20\t16\t7a0\t7a1\tnumber+value<<1\n"
      "pair\tf30\t16\t7a0\t7a2\tnumber\n"
      "pair\tf40\t16\t7a0\t7a4\tnumber\n"
      "pair\tf50\t16\t7a5\t7a6\tnumber\n"
      "pair\tf60\t16\t7a6\t7a5\tnumber\n";
  std::mt19937 random(3);
  for (unsigned seed = 0; seed < recordings(20); seed++) {
    INFO("seed " << seed);
    RecordingBuilder b;
    b.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + lines);
    b.pid(0, 42).pid(1, 43);
    std::uint64_t clock = T;
    for (unsigned n = 0; n < 2000; n++) {
      const auto cpu = static_cast<std::uint32_t>(random() % 2);
      const auto number = static_cast<std::uint32_t>(random() % 3);
      clock += 1 + random() % 9;
      if (random() % 3 == 0) {
        b.event(cpu, clock, static_cast<std::uint16_t>(0x7a0 + random() % 7), number);
      } else {
        const auto id = static_cast<std::uint16_t>(0xf00 + random() % 7 * 16 + number);
        b.event(cpu, clock, id, fkt_pair_arg(random() % 9, static_cast<int>(random() % 3)));
        clock += 9;
      }
    }
    const Bytes file = b.finish();
    check_same(file);
    const auto [bursts, all] = in_bursts(file);
    CHECK(bursts > all / 8);
  }
}

TEST_CASE("in bursts: a density that gets the pages on the way is one that reads them itself") {
  for (unsigned seed = 0; seed < recordings(6); seed++) {
    INFO("seed " << seed);
    check_density(RandomRecording(seed, 1 + seed % 5, 4000).finish());
    check_density(CallRecording(seed, 1 + seed % 5, 1500, CallRecording::Kind::gaps).finish());
    Bytes file = BusyRecording(seed, 3, 3000).finish();
    check_density(file);
    for (std::size_t at = file.size() / 2; at < file.size(); at += 4001) file[at] ^= std::byte{4};
    CHECK(check_density(file) > 0);
  }
}

TEST_CASE("in bursts: runs found ahead are those that are found in place") {
  for (unsigned seed = 0; seed < recordings(12); seed++) {
    INFO("seed " << seed);
    BusyRecording recording(seed, 1 + seed % 3, 2000);
    const Bytes file = recording.finish();
    const Recording trace = std::move(*Recording::from_bytes(file));
    const SpanTypes types(trace.info());
    const Meanings meanings(trace.info().catalogue, types.kinds());
    const QuietWords quiet(trace.info().catalogue, meanings);
    const WordTable table(trace.info().catalogue);
    std::size_t found = 0;
    for (const PageRef& ref : trace.pages()) {
      const Page page = *trace.page(ref);
      QuietRuns runs(table, page, quiet);
      PageDecoder decoder(table, page);
      Event event;
      bool in_run = false;
      while (decoder.next(event) == PageDecoder::Step::event) {
        const auto all = decoder.look_ahead(quiet, ~0U, kForever);
        const auto run = runs.behind(decoder.progress());
        const bool begins = quiet[event.id] && !in_run;
        in_run = quiet[event.id] && all.events > 0;
        REQUIRE(run.has_value() == (begins && all.events > 0));
        if (!run) continue;
        found++;
        REQUIRE(run->events == all.events);
        REQUIRE(run->made_begins == all.made_begins);
        REQUIRE(run->end == all.end);
      }
    }
    CHECK(found > 100);
  }
}

TEST_CASE("in bursts: damaged recordings, many CPUs") {
  std::mt19937 random(11);
  for (unsigned seed = 0; seed < recordings(20); seed++) {
    INFO("seed " << seed);
    BusyRecording recording(seed, 3, 900);
    Bytes file = recording.finish();
    const std::uint64_t pages = recording.builder().pages_offset();
    const std::uint64_t end = recording.builder().tail_offset();
    for (int i = 0; i < 6; i++) {
      const std::uint64_t at = pages + random() % (end - pages);
      file[at] ^= std::byte{static_cast<unsigned char>(1 + random() % 255)};
    }
    check_same(file);
  }
  check_same(BusyRecording(7, 256, 12'000).finish());
}

TEST_CASE("in bursts: a thread that moved unseen, whose old CPU runs another one then") {
  for (const std::uint32_t other : {43U, 0U}) {
    RecordingBuilder b;
    b.pid(1, 42).event(1, T + 10, FKT_E_SOFTIRQ_RAISE, 1);
    b.pid(0, 42).event(0, T + 20, FKT_E_SOFTIRQ_RAISE, 1);
    b.event(0, T + 30, FKT_E_SYS_ENTRY, 39);
    for (unsigned n = 31; n <= 34; n++) b.event(0, T + n, FKT_E_SOFTIRQ_RAISE, 1);
    b.pid(1, other).event(1, T + 40, FKT_E_SOFTIRQ_RAISE, 1);
    b.event(0, T + 50, FKT_E_SYS_EXIT, 1);
    check_same(b.finish());
  }
}

TEST_CASE("in bursts: a thread whose first event is a pair, and the events behind it") {
  RecordingBuilder b;
  std::uint64_t clock = T;
  for (std::uint32_t pid = 1; pid < 200; pid++) {
    b.pid(0, pid);
    for (unsigned n = 0; n < 1 + pid % 8; n++, clock += 50) {
      b.event(0, clock, FKT_P_SYSCALL + 39, fkt_pair_arg(10, -2));
    }
    for (unsigned n = 0; n < pid % 3; n++) b.event(1, clock - 20, FKT_E_SOFTIRQ_RAISE, 1);
  }
  check_same(b.finish());
}

TEST_CASE("in bursts: a number that is freed, or taken, before its burst begins") {
  for (const std::uint32_t id : {FKT_E_PID_FREE, FKT_E_FORK}) {
    RecordingBuilder b;
    b.event(0, T + 5, FKT_E_SWITCH_R, 77);
    b.event(0, T + 10, FKT_E_SWITCH_X, 0);
    b.event(0, T + 15, FKT_E_SWITCH_R, 77);
    for (unsigned n = 30; n <= 40; n += 2) b.event(0, T + n, FKT_E_SOFTIRQ_RAISE, 1);
    if (id == FKT_E_FORK) {
      b.event(1, T + 20, id, 77, {pair(77, 1)});
    } else {
      b.event(1, T + 20, id, 77);
    }
    b.event(1, T + 35, FKT_E_SWITCH_R, 88);
    b.event(1, T + 36, FKT_E_SOFTIRQ_RAISE, 1);
    check_same(b.finish());
  }
}

TEST_CASE("in bursts: PID words in place of switches, as without the layer of processes") {
  std::mt19937 random(5);
  for (unsigned seed = 0; seed < recordings(40); seed++) {
    INFO("seed " << seed);
    RecordingBuilder b;
    std::uint64_t clock = T;
    std::vector<bool> in_call(8);
    std::vector<std::uint32_t> runs(4);
    for (unsigned n = 0; n < 3000; n++) {
      const auto cpu = static_cast<std::uint32_t>(random() % 4);
      if (random() % 12 == 0) b.pid(cpu, runs[cpu] = static_cast<std::uint32_t>(random() % 8));
      const std::uint32_t pid = runs[cpu];
      clock += 1 + random() % 5;
      const unsigned what = random() % 5;
      if (what == 0 && pid != 0) {
        b.event(cpu, clock, in_call[pid] ? FKT_E_SYS_EXIT : FKT_E_SYS_ENTRY, 39);
        in_call[pid] = !in_call[pid];
      } else if (what == 1 && seed % 2 == 0) {
        b.event(cpu, clock, FKT_E_WAKING, static_cast<std::uint32_t>(random() % 8));
      } else {
        b.event(cpu, clock, FKT_E_SOFTIRQ_RAISE, 1);
      }
    }
    check_same(b.finish());
  }
}
