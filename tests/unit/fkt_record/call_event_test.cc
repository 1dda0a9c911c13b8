// SPDX-License-Identifier: GPL-2.0-only
// Tests the events of calls of functions: their words, and how they are shown.
#include <catch2/catch.hpp>

#include <fkt/call_event.h>
#include <fkt/point_hit.h>

#include "cli/fkt_record/instruments/instrument_kinds.h"
#include "cli/fkt_record/instruments/instrument_setup.h"
#include "tests/golden/recordings.h"
#include "tests/unit/texts.h"

using namespace fkt;
using namespace fkt::test;

namespace {

std::string refusal(const std::string& text) {
  const Result<Instrument> instrument = Instrument::parse(text);
  REQUIRE(instrument);
  const Status good = record::check_instrument(*instrument);
  return good ? "" : good.error().message;
}

}  // namespace

TEST_CASE("a call's word has its duration, and its begin together with the event's time") {
  constexpr std::uint64_t kMost = (std::uint64_t{1} << FKT_CALL_TICK_BITS) - 1;
  constexpr std::uint64_t kFar = (std::uint64_t{1} << FKT_CALL_BEGIN_BITS) - 1;
  for (const std::uint64_t begin :
       {std::uint64_t{0}, std::uint64_t{1}, T, ~std::uint64_t{0} - kFar}) {
    for (const std::uint64_t ticks : {std::uint64_t{0}, std::uint64_t{17}, kMost}) {
      REQUIRE(fkt_call_is_short(ticks));
      const std::uint64_t word = fkt_call_word(begin, ticks);
      CHECK(fkt_call_ticks(word) == ticks);
      for (const std::uint64_t later : {ticks, ticks + 40, kFar}) {
        CHECK(fkt_call_begin(word, begin + later) == begin);
      }
    }
  }
  CHECK_FALSE(fkt_call_is_short(kMost + 1));
}

TEST_CASE("a call is shown with its function's name and its duration") {
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + "name\tfunction\t3\tvfs_read\n");
  b.pid(0, 42);
  b.event(0, T + 10, FKT_E_NMI);
  b.event(0, T + 100, FKT_E_CALL, 3, {fkt_call_word(T + 40, 50)});
  b.event(0, T + 200, FKT_E_CALL_LONG, 3, {std::uint64_t{1} << 40, T + 200 - (1ULL << 40)});
  b.event(0, T + 300, FKT_E_CALL, 9, {fkt_call_word(T + 290, 7)});
  const Analyzed a(b);
  CHECK(has(a.dump(), "0500 vfs_read\n"));
  CHECK(has(a.dump(), "0500 vfs_read returns (took 50)\n"));
  CHECK(has(a.dump(), "0501 vfs_read returns (took 1099511627776)\n"));
  CHECK(has(a.dump(), "0500 call 9\n"));
  CHECK(has(a.dump(), "0500 call 9 returns (took 7)\n"));
  CHECK(has(a.counts(), "3\tinstruments\tcall\n"));
}

TEST_CASE("the values recorded of a call are shown by name, and can be asked for") {
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE,
            Catalogue::builtin().to_lines() +
                "name\tfunction\t3\tvfs_read\nname\tfunction\t4\tvfs_open\n"
                "values\tfunction\t3\t3\tfile.name:str:1:0:128 count:u:3:0:64 ret:s:4:0:64\n"
                "values\tfunction\t4\t4\tcount:s:1:0:64\n");
  b.pid(0, 42);
  const std::uint64_t hosts = 0x7374736f68;  // "hosts", as it lies in memory
  const std::uint64_t read = fkt_call_values_word(3, 50), open = fkt_call_values_word(4, 50);
  b.event(0, T + 10, FKT_E_NMI);
  b.event(0, T + 100, FKT_E_CALL_VALUES, 6, {read, T + 40, hosts, 0, 4096, 17});
  b.event(0, T + 200, FKT_E_CALL_VALUES, 6,
          {read, T + 140, 0x6c6169636570732f, 0x2f, 100, ~std::uint64_t{1}});
  b.event(0, T + 300, FKT_E_CALL_VALUES, 3, {open, T + 240, ~std::uint64_t{6}});
  b.event(0, T + 400, FKT_E_CALL_VALUES_LONG, 7,
          {3, std::uint64_t{1} << 40, T + 400 - (1ULL << 40), hosts, 0, 5, 5});
  const Analyzed a(b);
  CHECK(has(a.dump(), "0502 vfs_read file.name=\"hosts\", count=4096\n"));
  CHECK(has(a.dump(), "0502 vfs_read ret=17, returns (took 50)\n"));
  CHECK(has(a.dump(), "0502 vfs_read file.name=\"/special/\", count=100\n"));
  CHECK(has(a.dump(), "0502 vfs_read ret=-ENOENT, returns (took 50)\n"));
  CHECK(has(a.dump(), "0502 vfs_open count=-7\n"));
  CHECK(has(a.dump(), "0503 vfs_read file.name=\"hosts\", count=5\n"));
  CHECK(has(a.dump(), "0503 vfs_read ret=5, returns (took 1099511627776)\n"));
  // The end has all values, for a program that reads a line a call.
  const std::string arguments = R"("file.name":"hosts","count":4096)";
  CHECK(has(a.json_dump(), arguments + "}}"));
  CHECK(has(a.json_dump(), arguments + R"(,"ret":17},"took":50})"));
  CHECK(has(a.json_dump(), R"("name":"vfs_read","role":"begin","depth":)"));
}

TEST_CASE("a tracepoint's event is shown with its name and its values") {
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE,
            Catalogue::builtin().to_lines() +
                "name\ttracepoint\t0\tsched_waking\nname\ttracepoint\t8191\tsched_switch\n"
                "values\ttracepoint\t8191\t8191\tnext.comm:str:1:0:128 prev_state:u:3:0:64\n");
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_POINT, 0);
  b.event(0, T + 200, FKT_E_POINT_VALUES, FKT_POINT_ARG(8191, 3), {0x7374736f68, 0, 2});
  b.event(0, T + 300, FKT_E_POINT_VALUES, FKT_POINT_ARG(8191, 3) | FKT_VAR_CUT, {0x61, 0, 1});
  const Analyzed a(b);
  CHECK(has(a.dump(), "0508 sched_waking\n"));
  CHECK(has(a.dump(), "0509 sched_switch next.comm=\"hosts\", prev_state=2\n"));
  CHECK(has(a.dump(), "0509 sched_switch next.comm=\"a\", prev_state=1\n"));
}

TEST_CASE("entries, exits and instructions are shown with their places' names and their values") {
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE,
            Catalogue::builtin().to_lines() +
                "name\tfunction\t3\tvfs_read:entry\nname\tfunction\t4\tvfs_read:exit\n"
                "name\tinstruction\t5\tvfs_read+0x1c\n"
                "engine\tfunction\t4\treturn probe\tits arguments are not known\n"
                "values\tfunction\t3\t3\tcount:u:1:0:64\n"
                "values\tfunction\t4\t4\tret:s:1:0:64\n"
                "values\tinstruction\t5\t5\tregs.di:x:1:0:64\n");
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_FUNCTION_ENTRY, 3);
  b.event(0, T + 200, FKT_E_FUNCTION_ENTRY_VALUES, 2, {3, 4096});
  b.event(0, T + 300, FKT_E_FUNCTION_EXIT, 4);
  b.event(0, T + 400, FKT_E_FUNCTION_EXIT_VALUES, 2, {4, ~std::uint64_t{1}});
  b.event(0, T + 500, FKT_E_INSTRUCTION, 5);
  b.event(0, T + 600, FKT_E_INSTRUCTION_VALUES, FKT_INSTRUCTION_ARG(5, 1), {0xabc});
  const Analyzed a(b);
  CHECK(has(a.dump(), "0510 vfs_read:entry\n"));
  CHECK(has(a.dump(), "0511 vfs_read:entry count=4096\n"));
  CHECK(has(a.dump(), "0512 vfs_read:exit\n"));
  CHECK(has(a.dump(), "0513 vfs_read:exit ret=-ENOENT\n"));
  CHECK(has(a.dump(), "0518 vfs_read+0x1c\n"));
  CHECK(has(a.dump(), "0519 vfs_read+0x1c regs.di=0xabc\n"));
  CHECK(has(a.counts(), "2\tinstruments\tfunction_entry\n"));
}

TEST_CASE("what cannot be recorded of a call is refused") {
  CHECK(refusal("call:vfs_* if duration > 1ms do record").empty());
  CHECK(refusal("fn:vfs_read").empty());
  CHECK(refusal("at:vfs_read+4(regs.di)").empty());
  CHECK(refusal("sys:openat(flags:x) if ret < 0").empty());
  CHECK(refusal("block:vfs_read:3(regs.di)").empty());
  CHECK(has(refusal("block:vfs_read:*(regs.di) do count"), "only recorded with events"));
  CHECK(refusal("call:vfs_read do count").empty());
  CHECK(has(refusal("call:vfs_read(count) do count"), "only recorded with events"));
  CHECK(refusal("tp:sched:*(prev.pid) if next.pid == 1").empty());
  CHECK(refusal("call:vfs_read(count) ret if count > 4096").empty());
}

namespace {

// What a reader of the recording sees of calls: CPU, time since T, and whether it is a begin.
std::vector<std::tuple<std::uint32_t, std::uint64_t, bool>> begins_and_ends(
    const Recording& trace) {
  std::vector<std::tuple<std::uint32_t, std::uint64_t, bool>> found;
  for (const Event& event : trace.events()) {
    const bool begins = is_made_begin(event.id);
    if (begins || trace.info().catalogue.find(event.id)->role == Role::end) {
      found.emplace_back(event.cpu, event.clock - T, begins);
    }
  }
  return found;
}

RecordingBuilder with_function() {
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + "name\tfunction\t3\tvfs_read\n");
  return b;
}

}  // namespace

TEST_CASE("a call of a CPU's idle thread is not looked for on another CPU") {
  RecordingBuilder b = with_function();
  b.pid(0, 0).event(0, T + 50, FKT_E_NMI).event(0, T + 200, FKT_E_SWITCH_S, 42).close_page(0);
  b.pid(0, 0).event(0, T + 800, FKT_E_CALL, 3, {fkt_call_word(T + 300, 200)});
  b.pid(1, 0).event(1, T + 100, FKT_E_NMI).event(1, T + 1000, FKT_E_NMI);
  const Result<Recording> trace = Recording::from_bytes(b.finish(), "idle");
  REQUIRE(trace);
  for (const auto& [cpu, clock, begins] : begins_and_ends(*trace)) CHECK(cpu == 0);
  CHECK(begins_and_ends(*trace).size() == 2);
}

TEST_CASE("a call whose event is on another CPU, in one that seemed to have nothing in it") {
  RecordingBuilder b = with_function();
  b.pid(0, 42).event(0, T + 50, FKT_E_NMI);
  b.event(0, T + 1000, FKT_E_CALL, 3, {fkt_call_word(T + 100, 890)});
  b.event(0, T + 1100, FKT_E_SWITCH_S, 0).event(0, T + 9000, FKT_E_NMI);
  b.pid(1, 42).event(1, T + 2000, FKT_E_CALL, 3, {fkt_call_word(T + 200, 100)});
  const Result<Recording> trace = Recording::from_bytes(b.finish(), "within");
  REQUIRE(trace);
  using Found = std::vector<std::tuple<std::uint32_t, std::uint64_t, bool>>;
  CHECK(begins_and_ends(*trace) ==
        Found{{0, 100, true}, {0, 200, true}, {0, 300, false}, {0, 990, false}});
  CHECK(trace->integrity().damaged_pages == 0);
  std::size_t nmis = 0;
  for (const Event& event : trace->events()) nmis += event.id == FKT_E_NMI;
  CHECK(nmis == 2);
}
