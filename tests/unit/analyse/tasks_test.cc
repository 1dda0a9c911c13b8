// SPDX-License-Identifier: GPL-2.0-only
#include <catch2/catch.hpp>

#include "tests/unit/analyzed.h"

using namespace fkt;
using namespace fkt::test;

namespace {}  // namespace

TEST_CASE("names come from the list, follow fork, and change by rename") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_FORK, 77, {pair(77, 42)});
  b.event(0, T + 110, FKT_E_SWITCH_S, 77);
  b.event(0, T + 120, FKT_E_NMI);
  b.event(0, T + 130, FKT_E_RENAME, 77, {chars("find"), 0});
  b.event(0, T + 140, FKT_E_SWITCH_S, 42);
  const Analyzed a(b);
  CHECK(a.dump().find("fork child=77 work, tgid=77 work, parent=42 work") != std::string::npos);
  CHECK(a.dump().find("switch state=S, next=77 work") != std::string::npos);
  CHECK(a.dump().find("rename tid=77 find, comm=\"find\"") != std::string::npos);
  CHECK(a.process(77, "find").runs == 1);
}

TEST_CASE("an empty name is shown as one, and not as a name that is not known") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_FORK, 77, {pair(77, 42)});
  b.event(0, T + 110, FKT_E_SWITCH_S, 77);
  b.event(0, T + 120, FKT_E_RENAME, 77, {0, 0});
  b.event(0, T + 140, FKT_E_SWITCH_S, 99);
  const Analyzed a(b);
  CHECK(a.process(77, "").runs == 1);
  CHECK(a.dump().find("next=99 ?") != std::string::npos);
}

TEST_CASE("a number that is used again is another process") {
  RecordingBuilder b;
  b.pid(0, 42);
  for (const std::uint64_t t : {T + 100, T + 600}) {
    b.event(0, t, FKT_E_FORK, 77, {pair(77, 42)});
    b.event(0, t + 10, FKT_E_SWITCH_S, 77);
    b.event(0, t + 20, FKT_E_RENAME, 77, {chars(t == T + 100 ? "one" : "two"), 0});
    b.event(0, t + 50, FKT_E_EXIT, 0, {pair(77, 77)});
    b.event(0, t + 60, FKT_E_SWITCH_Z, 42);
    b.event(0, t + 70, FKT_E_PID_FREE, 77);
  }
  const Analyzed a(b);
  CHECK(a.process(77, "one").runs == 1);
  CHECK(a.process(77, "two").runs == 1);
}

TEST_CASE("a freed number is another process even when the fork was lost") {
  RecordingBuilder b;
  b.section(FKT_SEC_TASKS, "42\t42\t1\twork\n77\t77\t1\told\n");
  b.pid(0, 77);
  b.event(0, T + 100, FKT_E_EXIT, 0, {pair(77, 77)});
  b.event(0, T + 110, FKT_E_SWITCH_X, 42);
  b.event(0, T + 120, FKT_E_PID_FREE, 77);
  b.event(0, T + 130, FKT_E_SWITCH_S, 77);
  b.event(0, T + 140, FKT_E_NMI);
  const Analyzed a(b);
  CHECK(a.process(77, "?").runs == 1);
  CHECK(a.process(77, "old").runs == 1);
}

TEST_CASE("a flight recorder's tasks are those of its end") {
  RecordingBuilder b;
  b.section(FKT_SEC_TASKS, "42\t42\t1\tlongago\n77\t77\t1\tother\n");
  b.section(FKT_SEC_TASKS_END, "42\t42\t1\twork\n43\t43\t1\tyoung\n");
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SWITCH_S, 77);
  b.event(0, T + 110, FKT_E_SWITCH_S, 43);  // an earlier task with this number
  b.event(0, T + 120, FKT_E_EXIT, 0, {pair(43, 43)});
  b.event(0, T + 130, FKT_E_SWITCH_X, 42);
  b.event(0, T + 140, FKT_E_PID_FREE, 43);
  b.event(0, T + 150, FKT_E_FORK, 43, {pair(43, 42)});
  b.event(0, T + 160, FKT_E_SWITCH_S, 43);
  b.event(0, T + 170, FKT_E_NMI);
  const Analyzed a(b);
  CHECK(a.process(42, "work").runs == 2);
  // It has exited meanwhile, so the list at the end does not contain it.
  CHECK(a.process(77, "?").runs == 1);
  CHECK(a.process(43, "?").runs == 1);
  CHECK(a.process(43, "work").runs == 1);
}

TEST_CASE("a thread that frees its own number still is itself until it leaves") {
  RecordingBuilder b;
  b.section(FKT_SEC_TASKS, "42\t42\t1\twork\n43\t42\t1\twork\n");
  b.pid(0, 43);
  b.event(0, T + 100, FKT_E_EXIT, 0, {pair(43, 42)});
  b.event(0, T + 110, FKT_E_PID_FREE, 43);
  b.event(0, T + 120, FKT_E_SOFTIRQ_RAISE, 9);
  b.event(0, T + 130, FKT_E_SWITCH_X, 42);
  b.event(0, T + 140, FKT_E_NMI);
  const Analyzed a(b);
  const auto work = a.process(42, "work");
  CHECK(work.threads == 2);
  CHECK(work.runs == 2);
}

TEST_CASE("threads are rows of their process") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_FORK, 50, {pair(42, 42)});
  b.event(0, T + 110, FKT_E_SWITCH_S, 50);
  b.event(0, T + 120, FKT_E_NMI);
  const Analyzed a(b);
  CHECK(a.process(42, "work").threads == 2);
}

TEST_CASE("the drain's thread, which is made after the list, is known by the name it takes") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SWITCH_S, 99);
  b.event(0, T + 150, FKT_E_RENAME, 99, {chars("fkt_drai"), chars("n")});
  b.event(0, T + 160, FKT_E_SWITCH_I, 42);
  const Analyzed a(b);
  CHECK(a.process(99, "fkt_drain").kernel);
  CHECK(a.summary().drain_ticks == 60);
}

TEST_CASE("no pid makes the table huge, and no name obeys nobody") {
  RecordingBuilder b;
  b.section(FKT_SEC_TASKS, "42\t42\t1\tev\\x1b[31mil\n");
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_EXIT, 0, {pair(0xffffffff, 0xffffffff)});
  b.event(0, T + 110, FKT_E_RENAME, 42, {0x1b1b1b1b1b1b1b1b, 0x1b1b1b1b1b1b1b1b});
  b.event(0, T + 120, FKT_E_EXEC, 3, {pair(42, 42), chars("/bin/\x1b[2J"), 0});
  b.event(0, T + 130, FKT_E_SWITCH_S, 42);
  const Analyzed a(b);
  CHECK(a.dump().find('\x1b') == std::string::npos);
  CHECK(a.report().find('\x1b') == std::string::npos);
  CHECK(a.json().find('\x1b') == std::string::npos);
  CHECK(a.json_dump().find('\x1b') == std::string::npos);
}

TEST_CASE("thread 0 of a restricted recording is any other, not the idle task alone") {
  RecordingBuilder b;
  b.section(FKT_SEC_COMMAND,
            R"({"recorder_pid":10,"workload_pid":42,"command":["work"],"mask":1025,"args":false,)"
            R"("filter":"only","filter_pid":0,"restricted":true})");
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SWITCH_S, 0);
  b.event(0, T + 200, FKT_E_WAKING, 42);
  b.event(0, T + 300, FKT_E_SWITCH_R, 42);
  const Analyzed a(b);
  CHECK(a.dump().find("switch state=S, next=0 other") != std::string::npos);
  CHECK(a.dump().find("idle") == std::string::npos);
}

TEST_CASE("what continues from a copy never has more tasks than the whole") {
  Tasks whole((RecordingInfo()));
  whole.by_tid(42);
  const std::vector<Tasks::Number> numbers = whole.numbers();
  const TaskIndex count = whole.size();
  whole.idle(1);
  whole.by_tid(77);
  Tasks then = whole.at(count, numbers);
  for (std::uint32_t n = 0; n < 9; n++) {
    CHECK(then.by_tid(100 + n) < whole.size());
    CHECK(then.idle(n) < whole.size());
  }
  CHECK(then.by_tid(42) == whole.by_tid(42));
  CHECK(then.size() == whole.size());
}
