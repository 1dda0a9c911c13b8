// SPDX-License-Identifier: GPL-2.0-only
#include <catch2/catch.hpp>

#include "tests/unit/analyzed.h"

using namespace fkt;
using namespace fkt::test;

namespace {

constexpr std::uint32_t kReadNumber = 0, kGetpid = 39, kExit = 60;

}  // namespace

TEST_CASE("a call's time is its own, what nested in it, and what it was switched out") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, kReadNumber);
  b.event(0, T + 110, FKT_E_IRQ_ENTRY, 14);
  b.event(0, T + 130, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  b.event(0, T + 130, FKT_E_SOFTIRQ_ENTRY, 3);
  b.event(0, T + 135, FKT_E_SOFTIRQ_EXIT, 3);
  b.event(0, T + 200, FKT_E_SWITCH_S, 0);
  b.event(0, T + 500, FKT_E_SWITCH_R, 42);
  b.event(0, T + 510, FKT_E_SYS_EXIT, 5);
  const Analyzed a(b);
  const auto read = a.call("sys_read");
  CHECK(read.total.sum == 410);
  CHECK(read.self == 10 + 65 + 10);
  REQUIRE(read.parts.size() == 3);
  CHECK(read.parts[0].name == "irq 14 ata_piix");
  CHECK(read.parts[0].ticks == 20);
  CHECK(read.parts[1].name == "softirq NET_RX");
  CHECK(read.parts[1].ticks == 5);
  CHECK(read.parts[2].name == "switched out, asleep");
  CHECK(read.parts[2].ticks == 300);
}

TEST_CASE("system calls stay with their task when it sleeps and moves") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, kReadNumber);
  b.event(0, T + 110, FKT_E_SWITCH_S, 10);        // 42 sleeps in read, 10 runs
  b.event(0, T + 120, FKT_E_SYS_ENTRY, kGetpid);  // a call of another task on the same CPU
  b.event(0, T + 125, FKT_E_SYS_EXIT, 10);
  b.event(1, T + 200, FKT_E_SWITCH_R, 42);  // 42 continues on CPU 1
  b.event(1, T + 230, FKT_E_SYS_EXIT, 1);
  const Analyzed a(b);
  CHECK(a.call("sys_read").total.sum == 130);
  CHECK(a.call("sys_read").self == 10 + 30);
  CHECK(a.call("sys_getpid").total.sum == 5);
}

TEST_CASE("interrupts nest in interrupts and never leave their CPU") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, kReadNumber);
  b.event(0, T + 110, FKT_E_SOFTIRQ_ENTRY, 1);
  b.event(0, T + 120, FKT_E_VECTOR_ENTRY, 0xec);
  b.event(1, T + 125, FKT_E_VECTOR_ENTRY, 0xec);
  b.event(0, T + 130, FKT_E_VECTOR_EXIT, 0xec);
  b.event(0, T + 150, FKT_E_SOFTIRQ_EXIT, 1);
  b.event(1, T + 165, FKT_E_VECTOR_EXIT, 0xec);
  b.event(0, T + 160, FKT_E_SYS_EXIT, 0);
  const Analyzed a(b);
  const auto read = a.call("sys_read");
  REQUIRE(read.parts.size() == 1);  // the timer is nested in the softirq
  CHECK(read.parts[0].name == "softirq TIMER");
  CHECK(read.parts[0].ticks == 40);
  unsigned found = 0;
  for (const auto& row : a.summary().histogram) {
    if (row.name == "vector local_timer") {
      found++;
      CHECK(row.count == 2);
      CHECK(row.ticks == 50);
      REQUIRE(row.each);
      CHECK(row.each->max == 40);
    }
    if (row.name != "softirq TIMER") continue;
    found++;
    CHECK(row.ticks == 30);
  }
  CHECK(found == 2);
}

TEST_CASE("handlers on a shared line are told apart by their devices") {
  RecordingBuilder b;
  b.pid(0, 0);
  for (std::uint64_t t = T + 100; t < T + 300; t += 100) {
    b.event(0, t, FKT_E_IRQ_ENTRY_NAMED, 2, {11, chars("virtio0")});
    b.event(0, t + 10, FKT_E_IRQ_EXIT, 11);
    b.event(0, t + 10, FKT_E_IRQ_ENTRY_NAMED, 2, {11, chars("ahci")});
    b.event(0, t + 40, FKT_E_IRQ_EXIT, 11 | 1 << 22);
  }
  const Analyzed a(b);
  unsigned found = 0;
  for (const auto& row : a.summary().histogram) {
    if (row.name == "irq 11 virtio0" || row.name == "irq 11 ahci") {
      found++;
      CHECK(row.count == 2);
      CHECK(row.ticks == (row.name == "irq 11 ahci" ? 60 : 20));
    }
  }
  CHECK(found == 2);
  CHECK(a.dump().find("irq 11, device=\"virtio0\"") != std::string::npos);
}

TEST_CASE("calls that the recording cuts have no duration") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_EXIT, 0);  // entry before the recording
  b.event(0, T + 200, FKT_E_SYS_ENTRY, kGetpid);
  b.event(0, T + 300, FKT_E_SYS_ENTRY, kReadNumber);  // getpid's exit is missing
  b.event(0, T + 400, FKT_E_SWITCH_S, 0);             // read is open at the end
  const Analyzed a(b);
  CHECK(a.summary().exits_alone[static_cast<std::size_t>(Outcome::no_entry)] == 1);
  CHECK(outcome(a.call("sys_getpid"), Outcome::no_exit) == 1);
  CHECK(outcome(a.call("sys_read"), Outcome::no_exit) == 1);
  CHECK(a.call("sys_read").total.count == 0);
  CHECK(a.call("sys_getpid").total.count == 0);
}

TEST_CASE(
    "returns of calls that seccomp refused are told from those that began before the recording") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_EXIT, 0);  // entry before the recording
  b.event(0, T + 200, FKT_E_SYS_EXIT, 0xffffb3);
  b.event(0, T + 300, FKT_E_SYS_ENTRY, kGetpid);
  b.event(0, T + 310, FKT_E_SYS_EXIT, 7);
  b.event(0, T + 400, FKT_E_SYS_EXIT, 0xffffb3);
  b.lost(0, T + 500, T + 600, 3);
  b.event(0, T + 700, FKT_E_SYS_EXIT, 0);  // its entry may be lost
  const Analyzed a(b);
  const auto alone = [&](Outcome outcome) {
    return a.summary().exits_alone[static_cast<std::size_t>(outcome)];
  };
  CHECK(alone(Outcome::no_entry) == 1);
  CHECK(alone(Outcome::refused) == 2);
  CHECK(alone(Outcome::in_gap) == 1);
  CHECK(a.report().find("2 returns of calls that seccomp refused") != std::string::npos);
}

TEST_CASE("interrupts at the edges are counted, not timed") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_IRQ_EXIT, 14);
  b.event(0, T + 200, FKT_E_VECTOR_ENTRY, 0xec);
  const Analyzed a(b);
  unsigned found = 0;
  for (TypeIndex type = 0; type < a.analysis().types().size(); type++) {
    const SpanStats& stats = a.analysis().profile().stats(type);
    const std::string& name = a.analysis().types()[type].name;
    CHECK(stats.total.count == 0);
    if (name.starts_with("irq 14")) {
      found++;
      CHECK(stats.outcomes[static_cast<std::size_t>(Outcome::no_entry)] == 1);
    }
    if (name == "vector local_timer") {
      found++;
      CHECK(stats.outcomes[static_cast<std::size_t>(Outcome::no_exit)] == 1);
    }
  }
  CHECK(found == 2);
}

TEST_CASE("exit never returns, and that is no loss") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, kExit);
  b.event(0, T + 150, FKT_E_EXIT, 0, {pair(42, 42)});
  b.event(0, T + 160, FKT_E_SWITCH_Z, 0);
  b.event(0, T + 200, FKT_E_PID_FREE, 42);
  const Analyzed a(b);
  const auto exit = a.call("sys_exit");
  CHECK(outcome(exit, Outcome::never_returns) == 1);
  CHECK(outcome(exit, Outcome::no_exit) == 0);
  CHECK(exit.total.count == 0);
}

TEST_CASE("a child begins with the return of its parent's fork") {
  RecordingBuilder b;
  b.section(FKT_SEC_SYSCALLS, "64\t57\tfork\n");
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 57);
  b.event(0, T + 110, FKT_E_FORK, 77, {pair(77, 42)});
  b.event(0, T + 120, FKT_E_SYS_EXIT, 77);
  b.event(0, T + 130, FKT_E_SWITCH_PREEMPT, 77);
  b.event(0, T + 140, FKT_E_SYS_EXIT, 0);
  b.event(0, T + 150, FKT_E_SWITCH_S, 0);
  const Analyzed a(b);
  const auto fork = a.call("sys_fork");
  CHECK(fork.total.count == 1);
  CHECK(outcome(fork, Outcome::fork_return) == 1);
  CHECK(a.summary().exits_alone[static_cast<std::size_t>(Outcome::no_entry)] == 0);
  // The child is in the system until it returns from fork, then in user mode.
  const auto child = a.process(77, "work");
  CHECK(of(child.times, CpuState::system) == 10);
  CHECK(of(child.times, CpuState::user) == 10);
}

TEST_CASE("a gap hides exits: calls open across it have no duration") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, kReadNumber);
  b.event(0, T + 110, FKT_E_VECTOR_ENTRY, 0xec);
  b.lost(0, T + 120, T + 200, 3);  // may include read's exit and write's entry
  b.event(0, T + 210, FKT_E_SYS_EXIT, 8);
  b.event(0, T + 220, FKT_E_SYS_ENTRY, kGetpid);
  b.event(0, T + 225, FKT_E_SYS_EXIT, 42);
  const Analyzed a(b);
  CHECK(a.call("sys_read").total.count == 0);
  CHECK(outcome(a.call("sys_read"), Outcome::in_gap) == 1);
  CHECK(a.summary().exits_alone[static_cast<std::size_t>(Outcome::in_gap)] == 1);
  CHECK(a.call("sys_getpid").total.sum == 5);  // and is not nested in another call
}

TEST_CASE("a change of the mask hides exits on every CPU") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43);
  b.event(0, T + 90, FKT_E_SYS_ENTRY, kReadNumber);
  b.event(1, T + 95, FKT_E_SYS_ENTRY, kGetpid);
  b.event(0, T + 100, FKT_E_MASK, 0, {1ULL << FKT_L_PROCESS});
  b.event(0, T + 110, FKT_E_MASK, 0, {1ULL << FKT_L_SYSTEM | 1ULL << FKT_L_PROCESS});
  b.event(0, T + 200, FKT_E_SYS_EXIT, 5);  // of a later call, whose entry was not recorded
  b.event(1, T + 210, FKT_E_SYS_EXIT, 5);
  const Analyzed a(b);
  CHECK(outcome(a.call("sys_read"), Outcome::in_gap) == 1);
  CHECK(outcome(a.call("sys_getpid"), Outcome::in_gap) == 1);
  CHECK(a.call("sys_read").total.count == 0);
}

TEST_CASE("a gap leaves the call of a task alone that ran on another CPU all the while") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43).pid(2, 44);
  b.event(1, T + 90, FKT_E_SYS_ENTRY, kReadNumber);  // runs on CPU 1 during the gap
  b.event(2, T + 90, FKT_E_SYS_ENTRY, kGetpid);  // sleeps, so it may run on CPU 0 during the gap
  b.event(2, T + 95, FKT_E_SWITCH_S, 0);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, kReadNumber);
  b.lost(0, T + 120, T + 200, 3);
  b.event(1, T + 230, FKT_E_SYS_EXIT, 0);
  b.event(2, T + 240, FKT_E_SWITCH_R, 44);
  b.event(2, T + 250, FKT_E_SYS_EXIT, 0);
  const Analyzed a(b);
  CHECK(a.call("sys_read").total.count == 1);
  CHECK(a.call("sys_read").total.sum == 140);
  CHECK(outcome(a.call("sys_read"), Outcome::in_gap) == 1);
  CHECK(outcome(a.call("sys_getpid"), Outcome::in_gap) == 1);
}

TEST_CASE("functions nest where they are called: in an interrupt, or on the task, idle or not") {
  RecordingBuilder b;
  std::string functions;
  for (const char* name : {"outer", "inner"}) {
    for (const char* role : {"begin:", "end:"}) {
      functions += std::string("event\t") + (name[0] == 'o' ? "10" : "11") +
                   (role[0] == 'b' ? "0\t" : "1\t") + name + "\t0\t" + role + name + "\t0\t\n";
    }
  }
  b.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + functions);
  b.pid(0, 0);
  b.event(0, T + 100, 0x100);
  b.event(0, T + 110, FKT_E_SOFTIRQ_ENTRY, 1);
  b.event(0, T + 120, 0x110);
  b.event(0, T + 125, 0x110);
  b.event(0, T + 126, 0x111);
  b.event(0, T + 150, 0x111);
  b.event(0, T + 160, FKT_E_SOFTIRQ_EXIT, 1);
  b.event(0, T + 170, 0x101);
  b.event(0, T + 180, 0x111);  // its entry is missing; it is not the exit of the system call
  const Analyzed a(b);
  const auto stats = [&](std::string_view name) {
    for (TypeIndex type = 0; type < a.analysis().types().size(); type++) {
      if (a.analysis().types()[type].name == name) return a.analysis().profile().stats(type);
    }
    throw std::runtime_error("no such type");
  };
  CHECK(stats("outer").total.sum == 70);
  CHECK(stats("outer").self_whole == 20);
  CHECK(stats("outer").sub == 0);
  CHECK(stats("softirq TIMER").self_whole == 20);
  CHECK(stats("softirq TIMER").sub == 30);
  CHECK(stats("inner").total.count == 2);
  CHECK(stats("inner").total.sum == 31);
  CHECK(stats("inner").self_whole == 30);
  CHECK(stats("inner").outcomes[static_cast<std::size_t>(Outcome::no_entry)] == 1);
  CHECK(a.analysis().profile().exits_alone() == std::array<std::uint64_t, kOutcomes>{});
  CHECK(of(a.cpu(0), CpuState::softirq) == 50);
}

TEST_CASE("the thread that execs takes its call along to its leader's number") {
  RecordingBuilder b;
  b.section(FKT_SEC_SYSCALLS, "64\t59\texecve\n");
  b.section(FKT_SEC_TASKS, "42\t42\t1\twork\n43\t42\t1\twork\n");
  b.pid(0, 43);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 59);
  b.pid(0, 42);
  b.event(0, T + 150, FKT_E_EXEC, 2, {pair(43, 42), chars("/bin/ls")});
  b.event(0, T + 180, FKT_E_SYS_EXIT, 0);
  const Analyzed a(b);
  CHECK(a.call("sys_execve").total.count == 1);
  CHECK(a.call("sys_execve").total.sum == 80);
}

TEST_CASE("in a slice, calls that began before it count as cut") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, kReadNumber);
  b.event(0, T + 200, FKT_E_SYS_EXIT, 0);
  b.event(0, T + 300, FKT_E_SYS_ENTRY, kGetpid);
  b.event(0, T + 310, FKT_E_SYS_EXIT, 42);
  b.event(0, T + 320, FKT_E_SYS_ENTRY, kGetpid);
  b.event(0, T + 400, FKT_E_SYS_EXIT, 42);
  const Analyzed a(b.finish(), Selection{.from = T + 150, .to = T + 350});
  CHECK(a.call("sys_read").entries == 0);
  CHECK(outcome(a.call("sys_read"), Outcome::no_entry) == 1);
  const auto getpid = a.call("sys_getpid");
  CHECK(getpid.entries == 2);
  CHECK(getpid.total.count == 1);
  CHECK(outcome(getpid, Outcome::no_exit) == 1);
  CHECK(a.dump().find("sys_getpid") != std::string::npos);
  // Relative to the recording's start.
  CHECK(a.dump().find("            200 ") != std::string::npos);
}

TEST_CASE("entries of both ABIs pair with their exits") {
  RecordingBuilder b;
  b.section(FKT_SEC_SYSCALLS, "64\t39\tgetpid\n32\t20\tgetpid\n");
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS32_ENTRY, 20);
  b.event(0, T + 107, FKT_E_SYS32_EXIT, 42);
  b.event(0, T + 200, FKT_E_SYS_ENTRY_LONG, 0, {0xffffffffffffffff});
  b.event(0, T + 203, FKT_E_SYS_EXIT_LONG, 0, {0xffffffffffffffda});
  b.event(0, T + 300, FKT_E_SYS_ENTRY_ARGS, 0, {39, 1, 2, 3, 4, 5, 6});
  b.event(0, T + 305, FKT_E_SYS_EXIT, 42);
  const Analyzed a(b);
  CHECK(a.call("sys32_getpid").total.sum == 7);
  CHECK(a.call("sys_getpid").total.sum == 5);
  CHECK(a.call("sys_-1").total.sum == 3);
}
