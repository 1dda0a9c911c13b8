// SPDX-License-Identifier: GPL-2.0-only
#include <catch2/catch.hpp>

#include "lib/calls/call_trace.h"
#include "lib/calls/call_tree.h"
#include "lib/calls/kft_nesting.h"
#include "lib/report/call_tree_text.h"

using namespace fkt;

namespace {

// The call trace of a log. early: lines printed before the end.
struct Traced {
  Traced(const std::string& log, const CallTraceShape& shape) {
    const TimeFormat time(TimeUnit::us, 1e6);
    Profile profile;
    KftNesting* calls = nullptr;
    CallTrace trace(
        shape, time, 0, [&](TypeIndex type) { return calls->name(type); },
        [&](std::uint32_t task) { return "pid " + std::to_string(calls->pid(task)); },
        [&](TextWriter& out) {
          text += out.view();
          out.clear();
        });
    KftNesting nested(profile, &trace);
    calls = &nested;
    REQUIRE(read_kft(log, "log", [&](const KftCall& call) { nested.add(call); }));
    nested.finish();
    trace.finish();
    early = trace.printed_early();
  }
  // The names of the functions in the order printed, with the marks before them.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      if (line.find("Entry") != std::string::npos || line[0] == '-') continue;
      names.push_back(line.substr(51));
    }
    return names;
  }
  std::string text;
  std::uint64_t early = 0;
};

// Task 5 is switched out in the middle and task 6 runs; an interrupt occurs in task 6.
const char* const kLog =
    "10 1000 5 read x+0x1\n20 900 5 schedule read+0x1\n30 300 6 other y+0x1\n40 20 -1 irq z+0x1\n"
    "45 5 -1 tick irq+0x1\n70 9 6 part other+0x3\n950 9 5 end read+0x2\n";

}  // namespace

TEST_CASE("tree by tree, each tree stands in one piece") {
  const Traced traced(kLog, {});
  CHECK(traced.names() == std::vector<std::string>{"!  irq", "!  !  tick", "other", "|  part",
                                                   "read", "|  schedule", "|  end"});
}

TEST_CASE("interleaved, calls stand as they began") {
  const Traced traced(kLog, {.interleaved = true});
  CHECK(traced.names() == std::vector<std::string>{"read", "|  schedule", "other", "!  irq",
                                                   "!  !  tick", "|  part", "|  end"});
  CHECK(traced.text.find("---------- !!!! interrupt of pid 6\n") != std::string::npos);
}

TEST_CASE("only long calls, if only those are asked for") {
  const Traced traced(kLog, {.interleaved = true, .above = 300});
  CHECK(traced.names() == std::vector<std::string>{"read", "|  schedule"});
}

TEST_CASE("a call that does not end holds back a limited number of lines") {
  std::string log = "1 0 5 main x+0x1\n";
  const std::size_t calls = CallTrace::kMostHeld + 1000;
  for (std::size_t i = 0; i < calls; i++) log += std::to_string(2 * i + 2) + " 1 5 f main+0x1\n";
  for (const bool interleaved : {false, true}) {
    const Traced traced(log, {.interleaved = interleaved});
    CHECK(traced.names().size() == calls + 1);
    CHECK(traced.early >= 1);
  }
}

TEST_CASE("paths: own time by callers, interrupts apart, no time twice") {
  Profile profile;
  KftNesting* calls = nullptr;
  CallTree paths([&](TypeIndex type) { return calls->name(type); },
                 [&](std::uint32_t task) { return "pid " + std::to_string(calls->pid(task)); });
  KftNesting nested(profile, &paths);
  calls = &nested;
  REQUIRE(read_kft(kLog, "log", [&](const KftCall& call) { nested.add(call); }));
  nested.finish();
  paths.finish();
  TextWriter out;
  write_folded(out, paths, TimeFormat(TimeUnit::us, 1e6));
  CHECK(out.view() ==
        "[interrupts];irq 15\n[interrupts];irq;tick 5\npid 5;read 91\npid 5;read;end 9\n"
        "pid 5;read;schedule 10\npid 6;other 271\npid 6;other;part 9\n");
  CHECK(paths.nodes()[0].total == 15 + 5 + 91 + 9 + 10 + 271 + 9);
}
