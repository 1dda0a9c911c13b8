// SPDX-License-Identifier: GPL-2.0-only
#include <catch2/catch.hpp>

#include "lib/analyse/critical_path.h"
#include "lib/calls/call_source.h"
#include "lib/read/event_merge.h"
#include "tests/unit/recording_builder.h"

using namespace fkt;
using namespace fkt::test;

namespace {

using Doing = TaskActivity::Doing;

// The critical path of a task over the whole recording, as far as it lived, as
// "pid:doing:from-to"; times since T in ticks.
std::vector<std::string> path_of(RecordingBuilder& builder, std::uint32_t pid) {
  const Result<Recording> trace = Recording::from_bytes(builder.finish());
  REQUIRE(trace);
  Analysis analysis(trace->info(), {});
  TaskActivity states(analysis);
  states.keep_history();
  analysis.watch(states);
  for (const Event& event : trace->events()) states.add(event, analysis.add(event));
  analysis.finish(true, recording_end(*trace));
  states.finish(analysis.end());
  std::vector<std::string> steps;
  const auto path = critical_path(states, analysis.tasks(), analysis.tasks().find(pid),
                                  analysis.begin(), analysis.end())
                        .steps;
  std::uint64_t last = path.empty() ? 0 : path[0].from;
  for (const PathStep& step : path) {
    CHECK(step.from == last);  // no gaps
    last = step.to;
    static constexpr const char* kNames[] = {"?", "run", "ready", "asleep", "disk", "dead"};
    steps.push_back(std::to_string(analysis.tasks()[step.task].tid) + ":" +
                    kNames[static_cast<std::size_t>(step.doing)] + ":" +
                    std::to_string(step.from - T) + "-" + std::to_string(step.to - T));
  }
  return steps;
}

}  // namespace

TEST_CASE("a sleep that another task ended is what that task did") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43);
  b.event(0, T, FKT_E_SYS_ENTRY, 0);
  b.event(1, T, FKT_E_SYS_ENTRY, 1);
  b.event(0, T + 100, FKT_E_SWITCH_S, 0);  // 42 waits for 43
  b.event(1, T + 300, FKT_E_SYS_EXIT, 1);
  b.event(1, T + 400, FKT_E_WAKING, 42);
  b.event(0, T + 450, FKT_E_SWITCH_R, 42);
  b.event(0, T + 600, FKT_E_SYS_EXIT, 0);
  CHECK(path_of(b, 42) == std::vector<std::string>{"42:run:0-100", "43:run:100-300",
                                                   "43:run:300-400", "42:ready:400-450",
                                                   "42:run:450-600"});
}

TEST_CASE("a sleep that an interrupt ended stays a sleep, also of the task that was waited for") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43);
  b.event(0, T, FKT_E_SYS_ENTRY, 0);
  b.event(1, T, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 100, FKT_E_SWITCH_S, 0);
  b.event(1, T + 200, FKT_E_SWITCH_D, 0);  // 43 waits for the disk
  b.event(1, T + 500, FKT_E_IRQ_ENTRY, 14);
  b.event(1, T + 510, FKT_E_WAKING, 43);
  b.event(1, T + 520, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  b.event(1, T + 530, FKT_E_SWITCH_R, 43);
  b.event(1, T + 600, FKT_E_WAKING, 42);
  b.event(0, T + 610, FKT_E_SWITCH_R, 42);
  b.event(0, T + 700, FKT_E_SYS_EXIT, 0);
  CHECK(path_of(b, 42) == std::vector<std::string>{"42:run:0-100", "43:run:100-200",
                                                   "43:disk:200-510", "43:ready:510-530",
                                                   "43:run:530-600", "42:ready:600-610",
                                                   "42:run:610-700"});
}

TEST_CASE("what nothing is known of is called so") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 50, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 100, FKT_E_SYS_EXIT, 0);
  b.lost(0, T + 120, T + 200, 3);
  b.event(0, T + 250, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 300, FKT_E_SYS_EXIT, 0);
  CHECK(path_of(b, 42) == std::vector<std::string>{"42:?:0-50", "42:run:50-100", "42:run:100-120",
                                                   "42:?:120-200", "42:run:200-250",
                                                   "42:run:250-300"});
}

TEST_CASE("the path of a task begins with its birth and ends with its death") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 0);
  b.event(0, T, FKT_E_SYS_ENTRY, 56);
  b.event(0, T + 100, FKT_E_FORK, 44, {std::uint64_t{44} | std::uint64_t{42} << 32});
  b.event(0, T + 120, FKT_E_WAKEUP_NEW, 44, {1});
  b.event(0, T + 140, FKT_E_SYS_EXIT, 44);
  b.event(1, T + 150, FKT_E_SWITCH_R, 44);
  b.event(1, T + 280, FKT_E_EXIT, 0, {44});
  b.event(1, T + 300, FKT_E_SWITCH_Z, 0);
  b.event(0, T + 900, FKT_E_SYS_ENTRY, 0);
  CHECK(path_of(b, 44) ==
        std::vector<std::string>{"42:run:100-120", "44:ready:120-150", "44:run:150-300"});
}

TEST_CASE("what a task that was waited for did before its birth is what its parent did") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43);
  b.event(0, T, FKT_E_SYS_ENTRY, 0);
  b.event(1, T, FKT_E_SYS_ENTRY, 56);
  b.event(0, T + 100, FKT_E_SWITCH_S, 0);
  b.event(1, T + 300, FKT_E_FORK, 44, {std::uint64_t{44} | std::uint64_t{43} << 32});
  b.event(1, T + 320, FKT_E_WAKEUP_NEW, 44, {1});
  b.event(1, T + 350, FKT_E_SWITCH_S, 44);
  b.event(1, T + 600, FKT_E_WAKING, 42);
  b.event(0, T + 620, FKT_E_SWITCH_R, 42);
  b.event(0, T + 700, FKT_E_SYS_EXIT, 0);
  CHECK(path_of(b, 42) == std::vector<std::string>{"42:run:0-100", "43:run:100-320",
                                                   "44:ready:320-350", "44:run:350-600",
                                                   "42:ready:600-620", "42:run:620-700"});
}

TEST_CASE("a birth whose first wake-up was lost is not spent in what its parent did later") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43);
  b.event(0, T, FKT_E_SYS_ENTRY, 56);
  b.event(0, T + 100, FKT_E_FORK, 44, {std::uint64_t{44} | std::uint64_t{42} << 32});
  b.lost(0, T + 120, T + 200, 3);
  b.event(0, T + 210, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 220, FKT_E_SWITCH_S, 44);
  b.event(0, T + 300, FKT_E_SWITCH_Z, 0);
  b.event(1, T + 400, FKT_E_SYS_ENTRY, 0);
  CHECK(path_of(b, 44) == std::vector<std::string>{"44:?:100-220", "44:run:220-300"});
}
