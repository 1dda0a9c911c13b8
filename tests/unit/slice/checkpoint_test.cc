// SPDX-License-Identifier: GPL-2.0-only
// Details of the state at a cut that random recordings rarely contain: up to which time a CPU's
// time is accounted, since when a task is in its state, and which words identify a shared
// interrupt.
#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/unit/slices.h"

using namespace fkt;
using namespace fkt::test;

namespace {

Checkpoint checkpoint_at(const Bytes& file, std::uint64_t from, std::uint64_t to) {
  return *std::move(*Recording::from_bytes(slice_of(file, from, to))).info().checkpoint;
}

// Checks that a slice and [from, to) of the whole recording have the same report.
void check_same_report(const Bytes& file, std::uint64_t from, std::uint64_t to) {
  Selection selection;
  selection.from = from;
  selection.to = to;
  CHECK(of_time(Analyzed(slice_of(file, from, to)).report()) ==
        of_time(Analyzed(file, selection).report()));
}

const Checkpoint::Task& task(const Checkpoint& checkpoint, std::uint32_t tid) {
  const auto found = std::ranges::find(checkpoint.tasks, tid, &Checkpoint::Task::tid);
  REQUIRE(found != checkpoint.tasks.end());
  return *found;
}

}  // namespace

TEST_CASE("the cut says up to where each CPU's time was given away") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 39).event(1, T + 150, FKT_E_SYS_ENTRY, 39);
  b.event(0, T + 300, FKT_E_SYS_EXIT, 42).event(0, T + 900, FKT_E_SYS_ENTRY, 0);
  b.event(1, T + 950, FKT_E_SYS_EXIT, 43);
  const Bytes file = b.finish();
  // CPU 1 has no events after 150; a slice of the slice must not lose that.
  for (const Bytes& from : {file, slice_of(file, T + 200, T + 1000)}) {
    const Checkpoint checkpoint = checkpoint_at(from, T + 400, T + 1000);
    REQUIRE(checkpoint.cpus.size() == 2);
    CHECK(checkpoint.cpus[0].charged == T + 300);
    CHECK(checkpoint.cpus[1].charged == T + 150);
  }
  check_same_report(file, T + 400, T + 1000);
}

TEST_CASE("the cut says since when a task runs or is switched out") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 0);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 200, FKT_E_SWITCH_S, 0);
  b.event(1, T + 250, FKT_E_SWITCH_R, 43).event(1, T + 260, FKT_E_SYS_ENTRY, 39);
  b.event(0, T + 700, FKT_E_SWITCH_R, 42).event(0, T + 800, FKT_E_SYS_EXIT, 1);
  b.event(1, T + 900, FKT_E_SYS_EXIT, 43);
  const Bytes file = b.finish();
  for (const Bytes& from : {file, slice_of(file, T + 300, T + 1000)}) {
    const Checkpoint checkpoint = checkpoint_at(from, T + 500, T + 1000);
    CHECK(task(checkpoint, 42).since == T + 200);
    CHECK(task(checkpoint, 43).since == T + 250);
  }
  check_same_report(file, T + 500, T + 1000);
}

TEST_CASE("a gap from before the cut hides nothing of a task that came to another CPU within it") {
  // 43 may have run on CPU 0 until 290, and runs on CPU 1 from then on.
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 0);
  b.event(0, T + 50, FKT_E_SYS_ENTRY, 39).event(0, T + 60, FKT_E_SYS_EXIT, 42);
  b.event(1, T + 290, FKT_E_SWITCH_R, 43).event(1, T + 300, FKT_E_SYS_ENTRY, 39);
  b.lost(0, T + 200, T + 600, 5);
  b.event(0, T + 610, FKT_E_SYS_ENTRY, 39).event(0, T + 620, FKT_E_SYS_EXIT, 42);
  b.event(1, T + 700, FKT_E_SYS_EXIT, 43);
  const Bytes file = b.finish();
  const Analyzed part(slice_of(file, T + 400, T + 800));
  const auto getpid = part.call("sys_getpid");
  CHECK(outcome(getpid, Outcome::no_entry) == 1);
  CHECK(outcome(getpid, Outcome::in_gap) == 0);
  CHECK(Analyzed(file).call("sys_getpid").total.max == 400);
  check_same_report(file, T + 400, T + 800);
}

TEST_CASE("a gap that begins in a slice and ends behind it is known there") {
  // 42 leaves CPU 0 before the gap and comes back from CPU 1 during it. What it did meanwhile is
  // not known, so its call has no duration.
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 0);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 39);
  b.event(1, T + 110, FKT_E_NMI);
  b.event(0, T + 150, FKT_E_SWITCH_S, 0);
  b.event(1, T + 250, FKT_E_SWITCH_R, 42).event(1, T + 270, FKT_E_SYS_EXIT, 42);
  b.lost(0, T + 200, T + 400, 5).event(0, T + 410, FKT_E_NMI);
  b.event(1, T + 500, FKT_E_SYS_ENTRY, 39).event(1, T + 600, FKT_E_SYS_EXIT, 42);
  const Bytes file = b.finish();
  for (const std::uint64_t to : {T + 300, T + 450, T + 700}) {
    INFO(to - T);
    const Analyzed part(file, {.to = to});
    CHECK(outcome(part.call("sys_getpid"), Outcome::in_gap) == 1);
    CHECK(part.call("sys_getpid").total.count == (to == T + 700 ? 1 : 0));
    check_same_report(file, T, to);
  }
}

TEST_CASE("the cut knows a shared interrupt by the words that name it") {
  // Two devices share line 14; without a name in the event, the name is the one in the file.
  const auto named = [](RecordingBuilder& b, std::uint64_t at, const char* device) {
    b.event(0, at, FKT_E_IRQ_ENTRY_NAMED, 2, {14, chars(device)});
    b.event(0, at + 10, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  };
  RecordingBuilder b;
  b.pid(0, 42);
  named(b, T + 100, "usb");
  named(b, T + 200, "ide0");
  named(b, T + 500, "usb");
  b.event(0, T + 600, FKT_E_IRQ_ENTRY, 14).event(0, T + 620, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  named(b, T + 700, "usb");
  named(b, T + 800, "ide0");
  const Bytes file = b.finish();
  const Checkpoint checkpoint = checkpoint_at(file, T + 400, T + 900);
  REQUIRE(checkpoint.types.size() == 2);
  CHECK(checkpoint.types[0].named != 0);
  CHECK(checkpoint.types[1].named != 0);
  CHECK(checkpoint.types[0].named != checkpoint.types[1].named);
  const Analyzed part(slice_of(file, T + 400, T + 900));
  CHECK(part.report().find("irq 14 ata_piix") != std::string::npos);
  // Each device is one type, before and after the cut.
  CHECK(part.analysis().types().size() == 3);
  check_same_report(file, T + 400, T + 900);
}
