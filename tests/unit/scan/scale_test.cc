// SPDX-License-Identifier: GPL-2.0-only
// Tests the analysis of recordings with many tasks, many types of spans and many gaps, whose
// figures are known. A test that takes minutes instead of a second has found a cost that is not
// linear.
#include <fkt/call_event.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "lib/analyse/task_activity.h"
#include "lib/read/event_merge.h"
#include "lib/scan/scan.h"
#include "lib/timeline/timeline.h"
#include "lib/timeline/window_stats.h"
#include "tests/unit/analyzed.h"

using namespace fkt;
using namespace fkt::test;

namespace {

constexpr std::uint64_t kBegin = RecordingBuilder::kStart;

// Each task of a CPU runs for 100 ticks in each round: it returns from the read() in which it
// slept, and calls it again.
constexpr std::uint32_t kTasks = 5000, kCpus = 4, kRounds = 8;
constexpr std::uint32_t kFirstTask = 1000;

Bytes many_tasks() {
  RecordingBuilder b;
  std::array<std::uint64_t, kCpus> clock;
  for (std::uint32_t cpu = 0; cpu < kCpus; cpu++) {
    clock[cpu] = kBegin + 100;
    b.pid(cpu, 0);
    b.event(cpu, clock[cpu], FKT_E_SWITCH_R, kFirstTask + cpu);
  }
  for (std::uint32_t round = 0; round < kRounds; round++) {
    for (std::uint32_t i = 0; i < kTasks; i++) {
      const std::uint32_t cpu = i % kCpus;
      if (round > 0) b.event(cpu, clock[cpu] + 10, FKT_E_SYS_EXIT, 1);
      b.event(cpu, clock[cpu] + 20, FKT_E_SYS_ENTRY, 0);
      clock[cpu] += 100;
      const bool is_last = i + kCpus >= kTasks;
      const std::uint32_t next = is_last ? cpu : i + kCpus;
      const bool ends = is_last && round + 1 == kRounds;
      b.event(cpu, clock[cpu], FKT_E_SWITCH_S, ends ? 0 : kFirstTask + next);
    }
  }
  return b.finish();
}

}  // namespace

TEST_CASE("5,000 tasks: each has its runs, its calls and its states") {
  static_assert(kTasks % kCpus == 0);
  const Recording trace = opened(many_tasks());
  Analysis analysis(trace.info(), {});
  TaskActivity states(analysis);
  analysis.watch(states);
  for (const Event& event : trace.events()) states.add(event, analysis.add(event));
  analysis.finish(true, recording_end(trace));
  states.finish(analysis.end());
  const std::uint64_t round = kTasks / kCpus * 100;
  std::uint32_t tasks = 0;
  for (TaskIndex task = 0; task < states.stats().size(); task++) {
    if (analysis.tasks()[task].tid < kFirstTask) continue;
    tasks++;
    const TaskStat& stat = states.stats()[task];
    REQUIRE(stat.runs == kRounds);
    REQUIRE(stat.running == kRounds * 100);
    // Between its runs; what it did before the first one is not known.
    REQUIRE(stat.asleep >= (kRounds - 1) * (round - 100));
    const CpuStateTimes& times = analysis.cpu_accounting().task(task);
    REQUIRE(of(times, CpuState::system) + of(times, CpuState::user) +
                of(times, CpuState::running) ==
            stat.running);
  }
  CHECK(tasks == kTasks);
  const Summary summary = summarize(analysis, trace.integrity(), false);
  REQUIRE(summary.calls.size() == 1);
  CHECK(summary.calls[0].name == "sys_read");
  CHECK(summary.calls[0].entries == kTasks * kRounds);
  CHECK(summary.calls[0].total.count == kTasks * (kRounds - 1));
  CHECK(summary.calls[0].total.min == round - 10);
  CHECK(summary.calls[0].total.max == round - 10);
  CHECK(outcome(summary.calls[0], Outcome::no_exit) == kTasks);
}

TEST_CASE("50,000 types of spans, named by the catalogue") {
  constexpr std::uint32_t kFunctions = 50'000;
  const auto ticks = [](std::uint32_t function) { return 10 + function % 20; };
  std::string catalogue = Catalogue::builtin().to_lines();
  RecordingBuilder b;
  b.pid(0, 42);
  std::uint64_t clock = kBegin;
  for (std::uint32_t i = 0; i < 2 * kFunctions; i++) {
    const std::uint32_t function = i % kFunctions;
    clock += 40;
    b.event(0, clock, FKT_E_CALL, function,
            {fkt_call_word(clock - ticks(function), ticks(function))});
    if (i >= kFunctions) continue;
    const std::string number = std::to_string(function);
    catalogue += "name\tfunction\t" + number + "\tf_" + number + "\n";
  }
  b.section(FKT_SEC_CATALOGUE, catalogue);
  const Bytes file = b.finish();
  const Recording trace = opened(file);
  Analysis analysis(trace.info(), {});
  for (const Event& event : trace.events()) analysis.add(event);
  analysis.finish(true, recording_end(trace));
  const Recording again = opened(file);
  Analysis scanned(again.info(), {});
  scan(again, scanned, {.threads = 2});
  scanned.finish(true, recording_end(again));
  for (const Analysis* found : {&analysis, &scanned}) {
    std::uint32_t functions = 0;
    for (TypeIndex type = 0; type < found->types().size(); type++) {
      const std::string& name = found->types()[type].name;
      if (!name.starts_with("f_")) continue;
      functions++;
      const auto number = static_cast<std::uint32_t>(std::stoul(name.substr(2)));
      const SpanStats& stats = found->profile().stats(type);
      REQUIRE(stats.total.count == 2);
      REQUIRE(stats.total.sum == 2 * ticks(number));
    }
    CHECK(functions == kFunctions);
  }
  const Summary summary = summarize(analysis, trace.integrity(), false);
  CHECK(summary.missing == std::vector<std::string>{});
  std::uint32_t rows = 0;
  for (const Summary::EventRow& row : summary.histogram) rows += row.name.starts_with("f_");
  CHECK(rows == kFunctions);
  // The page's statistics of all.
  Timeline timeline(trace);
  PassControl control;
  timeline.read(control);
  WindowStats window(timeline.begin(), timeline.end(), timeline.tasks());
  timeline.follow(timeline.begin(), timeline.end(), window);
  std::uint64_t calls = 0;
  for (const auto& type : window.types()) calls += type.total.count;
  CHECK(calls == 2 * kFunctions);
}

TEST_CASE("10^6 gaps: each is counted, and no call across one has a duration") {
  constexpr std::uint64_t kGaps = 1'000'000;
  RecordingBuilder b;
  b.event(0, kBegin + 1, FKT_E_NMI).event(1, kBegin + 1, FKT_E_NMI);
  const Recording trace = opened(b.finish());
  Analysis analysis(trace.info(), {});
  // As a reader hands them on: a file with as many would have a page for each, 4 GB.
  std::uint64_t clock = kBegin + 1000;
  for (std::uint64_t i = 0; i < kGaps; i++) {
    const auto cpu = static_cast<std::uint32_t>(i % 2);
    const std::uint32_t pid = 42 + cpu;
    const std::uint64_t words[] = {1 + i % 3, clock + 20};
    analysis.add({.clock = clock, .cpu = cpu, .pid = pid, .id = FKT_E_SYS_ENTRY});
    analysis.add({.clock = clock + 20, .cpu = cpu, .pid = pid, .id = kGapBegins, .words = words});
    analysis.add({.clock = clock + 30, .cpu = cpu, .pid = pid, .id = FKT_W_LOST, .words = words});
    analysis.add({.clock = clock + 40, .cpu = cpu, .pid = pid, .id = FKT_E_SYS_ENTRY});
    analysis.add({.clock = clock + 45, .cpu = cpu, .pid = pid, .id = FKT_E_SYS_EXIT});
    clock += 50;
  }
  analysis.finish(true, clock);
  CHECK(analysis.gap_count() == kGaps);
  CHECK(analysis.gaps().size() == Analysis::kMaxGaps);
  CHECK(analysis.lost() == 2 * kGaps - 1);  // 1, 2, 3, 1 ...
  CHECK(analysis.decoded(0) + analysis.decoded(1) == 3 * kGaps);
  const Summary summary = summarize(analysis, trace.integrity(), false);
  REQUIRE(summary.calls.size() == 1);
  CHECK(summary.calls[0].entries == 2 * kGaps);
  CHECK(summary.calls[0].total.count == kGaps);
  CHECK(summary.calls[0].total.max == 5);
  CHECK(outcome(summary.calls[0], Outcome::in_gap) == kGaps);
  CHECK(summary.lost == 2 * kGaps - 1);
  REQUIRE(summary.losses.size() == 2);
  CHECK(summary.losses[0].gaps + summary.losses[1].gaps == kGaps);
  CHECK(summary.losses[0].lost + summary.losses[1].lost == summary.lost);
  CHECK(summary.losses[0].ticks == 10 * summary.losses[0].gaps);
}
