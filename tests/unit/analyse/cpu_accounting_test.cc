// SPDX-License-Identifier: GPL-2.0-only
#include <catch2/catch.hpp>

#include "tests/unit/analyzed.h"

using namespace fkt;
using namespace fkt::test;

namespace {

std::uint64_t sum(const CpuStateTimes& times) {
  std::uint64_t all = 0;
  for (const auto ticks : times) all += ticks;
  return all;
}

}  // namespace

TEST_CASE("a switch counts from the first event of the new task") {
  // An NMI between the switch's probe and the actual switch still belongs to the old task.
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 200, FKT_E_SWITCH_S, 10);
  b.pid(0, 42);
  b.event(0, T + 230, FKT_E_NMI);
  b.pid(0, 10);
  b.event(0, T + 300, FKT_E_SYS_EXIT, 0);
  const Analyzed a(b);
  CHECK(of(a.process(42, "work").times, CpuState::system) == 130);
  CHECK(of(a.process(10, "fkt_record").times, CpuState::system) == 70);
}

TEST_CASE("time resumes at the last event on that CPU, not at an old switch") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 0);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.event(1, T + 110, FKT_E_VECTOR_ENTRY, 0xfd);
  b.event(0, T + 200, FKT_E_SWITCH_S, 0);
  b.event(1, T + 310, FKT_E_VECTOR_EXIT, 0xfd);
  b.event(1, T + 350, FKT_E_SWITCH_R, 42);
  b.event(1, T + 360, FKT_E_SYS_EXIT, 0);
  const Analyzed a(b);
  CHECK(of(a.process(42, "work").times, CpuState::system) == 110);
  CHECK(a.call("sys_read").parts.at(0).ticks == 150);  // switched out from 200 to 350
}

TEST_CASE("idle is per CPU") {
  RecordingBuilder b;
  b.pid(0, 0).pid(1, 0);
  b.event(0, T + 100, FKT_E_VECTOR_ENTRY, 0xec);
  b.event(0, T + 110, FKT_E_VECTOR_EXIT, 0xec);
  b.event(1, T + 100, FKT_E_VECTOR_ENTRY, 0xec);
  b.event(1, T + 130, FKT_E_VECTOR_EXIT, 0xec);
  b.event(0, T + 400, FKT_E_NMI);
  b.event(1, T + 900, FKT_E_NMI);
  const Analyzed a(b);
  CHECK(of(a.process(0, "idle/CPU 0").times, CpuState::idle) == 290 + 500);  // until the stop
  CHECK(of(a.process(0, "idle/CPU 1").times, CpuState::idle) == 770);
  CHECK(of(a.process(0, "idle/CPU 1").times, CpuState::irq) == 30);
}

TEST_CASE("before a CPU's first event the state is unknown") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 0);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 1000, FKT_E_SYS_EXIT, 0);
  b.event(1, T + 700, FKT_E_NMI);
  const Analyzed a(b);
  CHECK(of(a.cpu(0), CpuState::unknown) == 100);
  CHECK(of(a.cpu(1), CpuState::unknown) == 700);
  CHECK(of(a.cpu(1), CpuState::idle) == 300);
  CHECK(sum(a.cpu(0)) == 1000);
  CHECK(sum(a.cpu(1)) == 1000);
}

TEST_CASE("an unfinished recording knows nothing after a CPU's last event") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 0);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.event(1, T + 200, FKT_E_NMI);
  b.event(1, T + 300, FKT_E_NMI);
  const Analyzed a(b.finish(RecordingBuilder::Tail::none));
  CHECK(of(a.cpu(0), CpuState::system) == 0);
  CHECK(of(a.cpu(0), CpuState::unknown) == 300);
}

TEST_CASE("the mode a task is found in is told by its next entry or exit") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 10);
  b.event(0, T + 100, FKT_E_VECTOR_ENTRY, 0xec);
  b.event(0, T + 110, FKT_E_VECTOR_EXIT, 0xec);
  b.event(0, T + 200, FKT_E_SYS_ENTRY, 0);  // so it was in user mode before
  b.event(1, T + 100, FKT_E_VECTOR_ENTRY, 0xec);
  b.event(1, T + 110, FKT_E_VECTOR_EXIT, 0xec);
  b.event(1, T + 210, FKT_E_SYS_EXIT, 0);  // so it was in a call before
  b.event(2, T + 100, FKT_E_NMI);
  b.pid(2, 99);
  b.event(2, T + 150, FKT_E_NMI);
  b.event(2, T + 170, FKT_E_NMI);  // nothing is known about 99
  const Analyzed a(b);
  CHECK(of(a.process(42, "work").times, CpuState::user) == 90);
  CHECK(of(a.process(10, "fkt_record").times, CpuState::system) == 100);
  CHECK(of(a.process(99, "?").times, CpuState::running) == 20 + 40);
}

TEST_CASE("kernel threads are always in the system") {
  RecordingBuilder b;
  b.section(FKT_SEC_TASKS, "2\t2\t0\tkthreadd\n7\t7\t2\tkworker/0:1\n42\t42\t1\twork\n");
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SWITCH_S, 7);
  b.event(0, T + 150, FKT_E_WAKING, 42);
  b.event(0, T + 180, FKT_E_SWITCH_I, 42);
  const Analyzed a(b);
  CHECK(of(a.process(7, "kworker/0:1").times, CpuState::system) == 80);
}

TEST_CASE("inside a gap the state is unknown") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.lost(0, T + 120, T + 200, 3);
  b.event(0, T + 250, FKT_E_SYS_EXIT, 0);
  b.event(0, T + 260, FKT_E_SYS_ENTRY, 0);
  const Analyzed a(b);
  CHECK(of(a.cpu(0), CpuState::unknown) == 100 + 80);
  CHECK(of(a.cpu(0), CpuState::system) == 20 + 50);
  CHECK(of(a.cpu(0), CpuState::user) == 10);
}

TEST_CASE("a pid that changes without a switch leaves the time before unknown") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.pid(0, 10);
  b.event(0, T + 150, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 160, FKT_E_SYS_EXIT, 0);
  const Analyzed a(b);
  CHECK(of(a.cpu(0), CpuState::unknown) == 150);
}

TEST_CASE("under a filter, time without a member is that of idle and others") {
  RecordingBuilder b;
  b.section(FKT_SEC_COMMAND,
            R"({"recorder_pid":10,"workload_pid":42,"command":["work"],"mask":1025,)"
            R"("filter":"only","filter_pid":0})");
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 57);
  b.event(0, T + 110, FKT_E_FORK, 77, {pair(77, 42)});
  b.event(0, T + 120, FKT_E_SYS_EXIT, 77);
  b.event(0, T + 200, FKT_E_SWITCH_S, 5);  // 5 is not a member: none of its events are recorded
  b.pid(0, 6);
  b.event(0, T + 500, FKT_E_SWITCH_R, 77);  // 6 is not a member either, but switches to one
  b.event(0, T + 530, FKT_E_SYS_EXIT, 0);
  const Analyzed a(b);
  CHECK(of(a.cpu(0), CpuState::others) == 300);
  CHECK(of(a.cpu(0), CpuState::idle) == 0);
  CHECK(of(a.process(77, "work").times, CpuState::system) == 30);
  CHECK(a.report().find("Idle+others") != std::string::npos);
}

TEST_CASE("-s counts only while the process lives") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 0);
  b.event(1, T + 50, FKT_E_NMI);
  b.event(0, T + 100, FKT_E_FORK, 77, {pair(77, 42)});
  b.event(0, T + 200, FKT_E_SWITCH_S, 77);
  b.event(0, T + 300, FKT_E_EXIT, 0, {pair(77, 77)});
  b.event(0, T + 400, FKT_E_SWITCH_Z, 0);
  b.event(1, T + 900, FKT_E_NMI);
  const Analyzed a(b.finish(), Selection{.stats_pid = 77});
  CHECK(a.analysis().profile().events() == 4);
  CHECK(sum(a.cpu(0)) == 300);
  CHECK(sum(a.cpu(1)) == 300);  // idle while 77 was alive
}

TEST_CASE("a slice and a CPU count their own time alone") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 0);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 300, FKT_E_SYS_EXIT, 0);
  b.event(1, T + 200, FKT_E_NMI);
  b.event(0, T + 1000, FKT_E_NMI);
  const Analyzed slice(b.finish(), Selection{.from = T + 250, .to = T + 500});
  CHECK(of(slice.cpu(0), CpuState::system) == 50);
  CHECK(of(slice.cpu(0), CpuState::user) == 200);
  CHECK(sum(slice.cpu(1)) == 250);
  const Analyzed one(b.finish(), Selection{.cpu = 1});
  CHECK(one.summary().cpus.size() == 1);
  CHECK(one.summary().cpu_ticks == 1000);
  CHECK(one.summary().events == 1);
}

TEST_CASE("a gap of no event is nobody's time, and the recording is complete all the same") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 39);
  b.lost(0, T + 200, T + 5000, 0);
  b.event(0, T + 5000, FKT_E_ASLEEP, 0, {4800, 4000});
  b.event(0, T + 5100, FKT_E_SYS_EXIT, 0);
  const Analyzed a(b);
  CHECK(of(a.cpu(0), CpuState::unknown) == 100 + 4800);
  CHECK(a.summary().lost == 0);
  CHECK(a.summary().missing.empty());
  REQUIRE(a.summary().losses.size() == 1);
  CHECK(a.summary().losses[0].ticks == 4800);
}

TEST_CASE("what the recorder knows to be wrong is told where losses are") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 39);
  b.section(FKT_SEC_TOTALS,
            R"({"start_clock":1000000,"stop_clock":1009000,"events":1,"lost":0,"discarded":0,)"
            R"("pages":1,"bytes":4096,"stop_reason":"asked","error":0,"drain_ns":0,"missed":3,)"
            R"("clock_back":1,"per_cpu":[{"cpu":0,"events":1,"lost":0,"discarded":0,"pages":1}]})");
  const Analyzed a(b);
  CHECK(a.summary().missing ==
        std::vector<std::string>{
            "3 calls not seen by a kprobe (freed thread numbers, exceptions)",
            "1 event with the time of what was before: the clock had stepped back"});
}
