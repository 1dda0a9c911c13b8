// SPDX-License-Identifier: GPL-2.0-only
// Compares scan() with adding every event, for everything that a report or a checkpoint shows, on
// random recordings.
#include <catch2/catch.hpp>

#include "lib/analyse/off_cpu.h"
#include "lib/read/damage.h"
#include "lib/report/off_cpu_report.h"
#include "lib/report/task_report.h"
#include "lib/scan/scan.h"
#include "tests/unit/busy_recording.h"
#include "tests/unit/call_recording.h"
#include "tests/unit/everything_said.h"
#include "tests/unit/how_many.h"

using namespace fkt;
using namespace fkt::test;

namespace {

std::string by_events(const Bytes& file, const Selection& selection) {
  const Recording trace = opened(file);
  Analysis analysis(trace.info(), selection);
  analysis.keep_histograms();
  for (const Event& event : trace.events({.from = {}, .to = selection.to, .cpu = {}})) {
    analysis.add(event);
  }
  analysis.finish(!selection.to, recording_end(trace));
  return everything_said(trace, analysis);
}

std::string by_scan(const Bytes& file, const Selection& selection, unsigned threads) {
  const Recording trace = opened(file);
  Analysis analysis(trace.info(), selection);
  analysis.keep_histograms();
  scan(trace, analysis, {.threads = threads});
  analysis.finish(!selection.to, recording_end(trace));
  return everything_said(trace, analysis);
}

// Returns as text what the tasks did, in which calls they slept, and which tasks or interrupts woke
// them. threads: number of threads with which the file is scanned; 0: it is read event by event.
std::string activity(const Bytes& file, const Selection& selection, unsigned threads) {
  const Recording trace = opened(file);
  Analysis analysis(trace.info(), selection);
  TaskActivity states(analysis);
  OffCpu waits(analysis);
  states.tell([&](TaskIndex task, const TaskActivity::Period& s) { waits.add(task, s); });
  analysis.watch(states);
  if (threads > 0) {
    CHECK(states.takes_bursts());
    scan(trace, analysis, {.threads = threads, .activity = &states});
  } else {
    for (const Event& event : trace.events({.from = {}, .to = selection.to, .cpu = {}})) {
      states.add(event, analysis.add(event));
    }
  }
  analysis.finish(!selection.to, recording_end(trace));
  states.finish(analysis.end());
  const TimeFormat time(TimeUnit::cycles, 1e9);
  TextWriter out;
  write_tasks_json(out, task_rows(states, analysis), time);
  const std::vector<OffCpu::Row> rows = waits.rows();
  OffCpuReport{rows, rows.size(), time}.json(out);
  out.put(damage_of(trace));
  return std::string(out.view());
}

void check_equal(const std::string& expected, const std::string& found) {
  if (found == expected) return;
  std::size_t at = 0;
  while (at < std::min(found.size(), expected.size()) && found[at] == expected[at]) at++;
  at -= std::min<std::size_t>(at, 60);
  INFO("expected: " << expected.substr(at, 160));
  INFO("found:    " << found.substr(at, 160));
  FAIL("the scan says something else");
}

void check_scan(const Bytes& file, const Selection& selection = {}) {
  const std::string expected = by_events(file, selection);
  const std::string states = activity(file, selection, 0);
  for (const unsigned threads : {1U, 2U, 4U}) {
    INFO(threads << " threads");
    check_equal(expected, by_scan(file, selection, threads));
    check_equal(states, activity(file, selection, threads));
  }
}
std::string checkpoint_by_events(const Bytes& file, std::uint64_t clock) {
  const Recording trace = opened(file);
  Analysis analysis(trace.info(), {});
  for (const Event& event : trace.events({.from = {}, .to = clock, .cpu = {}})) analysis.add(event);
  return analysis.checkpoint(clock, clock + 1).to_lines();
}

}  // namespace

TEST_CASE("a scan says what all events say: tasks that fork, exec and migrate, gaps") {
  for (unsigned seed = 0; seed < recordings(24); seed++) {
    INFO("seed " << seed);
    RandomRecording recording(seed, 1 + seed % 5, 4000);
    check_scan(recording.finish());
  }
}

TEST_CASE(
    "a scan says what all events say: calls, pairs, nested interrupts and functions, one thread on "
    "two CPUs") {
  for (unsigned seed = 0; seed < recordings(24); seed++) {
    INFO("seed " << seed);
    check_scan(BusyRecording(seed, 1 + seed % 5, 900).finish());
  }
}

TEST_CASE("a scan says what all events say: calls of functions that are written at their ends") {
  using Kind = CallRecording::Kind;
  for (const Kind kind : {Kind::whole, Kind::switches, Kind::gaps}) {
    for (unsigned seed = 0; seed < recordings(12); seed++) {
      INFO("seed " << seed << " kind " << static_cast<int>(kind));
      check_scan(CallRecording(seed, 1 + seed % 5, 1500, kind).finish());
    }
  }
}

TEST_CASE("a scan of 256 CPUs, and of pages in groups") {
  BusyRecording many(7, 256, 12'000);
  check_scan(many.finish());
  BusyRecording packed(8, 3, 2000);
  packed.builder().in_groups(3);
  check_scan(packed.finish());
}

TEST_CASE("a scan of a part: from, to, one CPU") {
  for (const unsigned seed : seeds(12, {39})) {
    INFO("seed " << seed);
    BusyRecording recording(seed, 3, 900);
    const std::uint64_t third = (recording.end() - RecordingBuilder::kStart) / 3;
    const Bytes file = recording.finish();
    check_scan(file, {.from = RecordingBuilder::kStart + third});
    check_scan(file, {.from = RecordingBuilder::kStart + third,
                      .to = RecordingBuilder::kStart + 2 * third});
    check_scan(file, {.cpu = seed % 3});
  }
}

TEST_CASE("a scan of switches as only the file's catalogue has them") {
  std::string lines = RandomRecording::catalogue();
  const auto set_words = [&](const std::string& id, const std::string& words) {
    const std::string before = "event\t" + id + "\tswitch\t10\tpoint\t";
    const std::size_t at = lines.find(before);
    REQUIRE(at != std::string::npos);
    lines.replace(at + before.size(), 1, words);
  };
  set_words("403", "1");
  set_words("404", "var");
  lines +=
      "event\t40b\todd\t10\tpoint\t0\tnext:tid:0:0:22\n"
      "event\t40c\todder\t10\tpoint\t1\tnext:tid:0:0:22\n"
      "event\t40d\todd_call\t10\tbegin:odd_call\t0\t\n";
  for (unsigned seed = 0; seed < recordings(12); seed++) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    RecordingBuilder builder;
    builder.section(FKT_SEC_CATALOGUE, lines);
    std::uint64_t clock = RecordingBuilder::kStart;
    for (unsigned i = 0; i < 3000; i++) {
      clock += 1 + random() % 90;
      const unsigned cpu = random() % 2;
      const std::uint32_t next = random() % 3 == 0 ? 0 : 100 + random() % 5;
      switch (random() % 16) {
        case 0:
          builder.event(cpu, clock, 0x403, next, {1});
          break;
        case 1:
          builder.event(cpu, clock, 0x404, 2, {1, 2});
          break;
        case 2:
          builder.event(cpu, clock, random() % 2 == 0 ? 0x40b : 0x40d, next);
          break;
        case 3:
          builder.event(cpu, clock, 0x40c, next, {1});
          break;
        case 4:
          builder.event(cpu, clock, random() % 2 == 0 ? FKT_E_SWITCH_R : FKT_E_SWITCH_Z, next);
          break;
        case 5:
          builder.event(cpu, clock, FKT_E_WAKING, 100);
          break;
        default:
          builder.event(cpu, clock, i % 2 == 0 ? FKT_E_SYS_ENTRY : FKT_E_SYS_EXIT, i % 3);
      }
    }
    check_scan(builder.finish());
  }
}

TEST_CASE("a scan where the view needs each event") {
  RandomRecording recording(3, 2, 3000);
  const Bytes file = recording.finish();
  check_scan(file, {.layer = FKT_L_SYSTEM});
  check_scan(file, {.stats_pid = 43});
}

TEST_CASE("a scan of damaged recordings") {
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
    check_scan(file);
  }
}

TEST_CASE("the state at a cut is the same after a scan") {
  for (unsigned seed = 0; seed < recordings(12); seed++) {
    INFO("seed " << seed);
    RandomRecording recording(seed, 3, 3000);
    const std::uint64_t middle = (RecordingBuilder::kStart + recording.end()) / 2;
    const Bytes file = recording.finish();
    const Recording trace = opened(file);
    Analysis analysis(trace.info(), {});
    const std::uint64_t early = middle - 50'000;
    Scanner scanner(trace, analysis, {.threads = 2, .statistics = false, .stops = {early, middle}});
    scanner.run(early);
    CHECK(analysis.checkpoint(early, early + 1).to_lines() == checkpoint_by_events(file, early));
    scanner.run(middle);
    CHECK(analysis.checkpoint(middle, middle + 1).to_lines() == checkpoint_by_events(file, middle));
  }
}

TEST_CASE("a scan stops where it is told to") {
  BusyRecording recording(1, 2, 150'000);
  const Bytes file = recording.finish();
  const Recording trace = opened(file);
  Analysis analysis(trace.info(), {});
  std::uint64_t asked = 0;
  scan(trace, analysis, {.threads = 2, .progress = [&](std::uint64_t) { return ++asked < 2; }});
  CHECK(asked == 2);
}

TEST_CASE("a scan of a page whose header names a thread that cannot be") {
  RecordingBuilder b;
  b.pid(0, ~0U);
  for (std::uint64_t i = 0; i < 100; i++) {
    b.event(0, T + 100 * i, FKT_E_SYS_ENTRY, 39);
    b.event(0, T + 100 * i + 10, FKT_E_SYS_EXIT, 1);
  }
  const Bytes file = b.finish();
  check_scan(file);
}
