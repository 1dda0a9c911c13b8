// SPDX-License-Identifier: GPL-2.0-only
// Tests what the page is told of the slices that it jumps to.
#include <fkt/point_hit.h>

#include <catch2/catch.hpp>

#include <array>
#include <cstring>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/unit/fkt_selection/served.h"

using namespace fkt;
using namespace fkt::cli;
using namespace fkt::test;
using nlohmann::json;

namespace {

constexpr const char* kCalls = "64\t0\tread\n64\t74\tfsync\n";

// What the page asks of a slice that it knows from an answer.
json details(const Served& served, const json& slice) {
  Parameters asked;
  for (const char* name : {"kind", "depth", "value", "cpu", "task", "from", "to"}) {
    asked[name] = slice[name].dump();
  }
  return served.ask("slice", asked);
}

json slowest(const Served& served, const char* name) {
  const json found =
      served.ask("slowest", {{"from", "0"}, {"to", "100000"}, {"most", "1"}, {"name", name}});
  return found["found"][0];
}

// fsync of task 42 begins on CPU 0, sleeps 500 until task 43, then 4000 until the disk's interrupt,
// which interrupts task 43, then 2000 until task 44, and ends on CPU 1.
Served sleeper() {
  RecordingBuilder b;
  b.section(FKT_SEC_SYSCALLS, kCalls);
  b.section(FKT_SEC_TASKS, "42\t42\t1\tfio\n43\t43\t1\tkworker\n44\t44\t1\tjbd2\n");
  b.pid(0, 42).pid(1, 43);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 74);
  b.event(0, T + 500, FKT_E_SWITCH_S, 0);
  b.event(1, T + 1000, FKT_E_WAKING, 42);
  b.event(0, T + 1100, FKT_E_SWITCH_R, 42);
  b.event(0, T + 2000, FKT_E_SWITCH_S, 0);
  b.event(1, T + 5990, FKT_E_IRQ_ENTRY, 14);
  b.event(1, T + 6000, FKT_E_WAKING, 42);
  b.event(1, T + 6010, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  b.event(0, T + 6100, FKT_E_SWITCH_R, 42);
  b.event(0, T + 7000, FKT_E_SWITCH_S, 0);
  b.event(1, T + 8000, FKT_E_SWITCH_S, 44);
  b.event(1, T + 9000, FKT_E_WAKING, 42);
  b.event(1, T + 9500, FKT_E_SWITCH_S, 42);
  b.event(1, T + 9900, FKT_E_SYS_EXIT, 0);
  return Served(b.finish());
}

constexpr const char* kRequests =
    "name\ttracepoint\t3\tblock_rq_issue\nname\ttracepoint\t4\tblock_rq_complete\n"
    "name\ttracepoint\t5\tblock_bio_queue\n"
    "name\tdev\t266338304\tvda\n"
    "values\ttracepoint\t3\t3\trq:x:1:0:64 dev:dev:2:0:64 sector:u:3:0:64 bytes:u:4:0:64 "
    "flags:x:5:0:64 ino:u:6:0:64\n"
    "values\ttracepoint\t4\t4\trq:x:1:0:64 dev:dev:2:0:64\n"
    "values\ttracepoint\t5\t5\tdev:dev:1:0:64 part:dev:2:0:64 ino:u:3:0:64 sector:u:4:0:64\n"
    "async\ttracepoint\t3\t3\tbegin\trequest\trq\tdev\n"
    "async\ttracepoint\t4\t4\tend\trequest\trq\tdev\n";
constexpr std::uint64_t kVda = 254 << 20, kVda1 = kVda + 1;

// A request to vda for a file on its partition, begun while task 42 runs, which then sleeps.
Served requester() {
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + kRequests);
  b.section(FKT_SEC_TASKS, "42\t42\t1\tfio\n");
  b.pid(0, 42).pid(1, 0);
  std::array<std::uint64_t, 2> path{};
  std::memcpy(path.data(), "/backup.img", 11);
  const Catalogue& known = Catalogue::builtin();
  REQUIRE(known.find(FKT_E_NAME) != nullptr);
  b.long_event(0, T + 50, FKT_E_NAME, 4, std::array{kVda1, std::uint64_t{15}, path[0], path[1]});
  b.event(0, T + 100, FKT_E_POINT_VALUES, FKT_POINT_ARG(5, 4), {kVda, kVda1, 15, 4096});
  b.event(0, T + 200, FKT_E_POINT_VALUES, FKT_POINT_ARG(3, 6),
          {0xf00, kVda, 4096, 65536, 0x801, 0});
  b.event(0, T + 300, FKT_E_SWITCH_D, 0);
  b.event(1, T + 900, FKT_E_WAKING, 42);
  b.event(0, T + 950, FKT_E_SWITCH_R, 42);
  b.event(1, T + 5200, FKT_E_POINT_VALUES, FKT_POINT_ARG(4, 2), {0xf00, kVda});
  b.event(0, T + 6000, FKT_E_SWITCH_S, 0);
  return Served(b.finish());
}

}  // namespace

TEST_CASE("a search answers with slices, as the page can jump to them") {
  const Served served = sleeper();
  const json call = slowest(served, "sys_fsync");
  CHECK(call["kind"] == 3);
  CHECK(call["depth"] == 1);
  CHECK(call["task_name"] == "fio");
  CHECK(call["tid"] == 42);
  CHECK(call["begun"] == true);
  CHECK(call["ended"] == true);
  CHECK(call["from"] == 100);
  CHECK(call["to"] == 9900);
  CHECK(call["cpu"] == 0);  // where it began
  const json next = served.ask("next", {{"from", "0"}, {"name", "sys_fsync"}})["found"];
  CHECK(next == call);
  CHECK(slowest(served, "fio")["kind"] == 0);
  CHECK(slowest(served, "irq*")["kind"] == 1);
  CHECK(slowest(served, "irq*")["task_name"] == "kworker");
  // An event is no slice.
  const json event = served.ask("next", {{"from", "0"}, {"name", "waking"}})["found"];
  CHECK_FALSE(event.contains("kind"));
  CHECK(event["tid"] == 43);
}

TEST_CASE("what woke a task is told by the lengths of its sleeps, interrupts by their names") {
  const Served served = sleeper();
  const json found = details(served, slowest(served, "sys_fsync"));
  CHECK(found["wake_count"] == 3);
  REQUIRE(found["wakes"].size() == 3);
  CHECK(found["wakes"][0]["asleep"] == 4000);
  CHECK(found["wakes"][0]["interrupt"].get<std::string>().starts_with("irq 14"));
  CHECK_FALSE(found["wakes"][0].contains("task_name"));
  CHECK(found["wakes"][1]["asleep"] == 2000);
  CHECK(found["wakes"][1]["task_name"] == "jbd2");
  CHECK(found["wakes"][1]["interrupt"].is_null());
  CHECK(found["wakes"][2]["asleep"] == 500);
  CHECK(found["wakes"][2]["task_name"] == "kworker");
}

TEST_CASE("of many wake-ups those that ended the longest sleeps are told") {
  RecordingBuilder b;
  b.section(FKT_SEC_SYSCALLS, kCalls);
  b.section(FKT_SEC_TASKS, "42\t42\t1\tfio\n43\t43\t1\tkworker\n44\t44\t1\tjbd2\n");
  b.pid(0, 42).pid(1, 43);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 74);
  std::uint64_t at = T + 1000;
  for (unsigned i = 0; i < 40; i++, at += 1000) {
    b.event(0, at, FKT_E_SWITCH_S, 0);
    if (i == 39) b.event(1, at + 100, FKT_E_SWITCH_S, 44);
    b.event(1, at + 200 + 5 * i, FKT_E_WAKING, 42);
    b.event(0, at + 500, FKT_E_SWITCH_R, 42);
  }
  b.event(0, at, FKT_E_SYS_EXIT, 0);
  const Served served(b.finish());
  const json found = details(served, slowest(served, "sys_fsync"));
  CHECK(found["wake_count"] == 40);
  CHECK(found["wakes"].size() == 20);
  CHECK(found["wakes"][0]["task_name"] == "jbd2");
  CHECK(found["wakes"][0]["asleep"] == 395);
  CHECK(found["wakes"][19]["asleep"] == 300);
}

TEST_CASE("a run is led to by a wake-up; an interrupt has neither states nor a waker") {
  const Served served = sleeper();
  const json lanes = served.ask("lanes", {{"from", "0"}, {"to", "10000"}, {"cells", "8000"}});
  unsigned runs = 0;
  for (const json& lane : lanes["lanes"]) {
    if (lane["cpu"] != true) continue;
    for (const json& cell : lane["cells"]) {
      if (cell[0] != 0 || lanes["tasks"][cell[4].dump()]["tid"] != 42) continue;
      const json found = details(served, {{"kind", 0},
                                          {"depth", 0},
                                          {"value", cell[4]},
                                          {"cpu", lane["id"]},
                                          {"task", cell[4]},
                                          {"from", cell[7]},
                                          {"to", cell[8]}});
      CHECK(found["states"] == json({0, 0, 0, 0}));
      CHECK(found["wakes"].size() == (cell[7] > 500 ? 1U : 0U));
      runs++;
    }
  }
  CHECK(runs == 4);
  const json found = details(served, slowest(served, "irq*"));
  CHECK(found["states"] == json({0, 0, 0, 0}));
  CHECK(found["wake_count"] == 0);
}

TEST_CASE("a request to a disk is no task: its details are bytes, flags by their names, its file") {
  const Served served = requester();
  const json request = slowest(served, "request vda");
  CHECK(request["kind"] == 4);
  CHECK(request["from"] == 200);
  CHECK(request["to"] == 5200);
  CHECK(request["task_name"] == "fio");
  const json found = details(served, request);
  CHECK(found["states"] == json({0, 0, 0, 0}));
  CHECK(found["wake_count"] == 0);
  CHECK(found["facts"] == json::parse(R"([["sector","4096"],["bytes","65536"],
                                          ["flags","WRITE|SYNC"],["file","/backup.img"]])"));
  CHECK(details(served, slowest(served, "fio"))["facts"] == json::array());
}
