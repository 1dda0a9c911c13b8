// SPDX-License-Identifier: GPL-2.0-only
// Tests what expressions select, compared with an evaluation of the golden recording's JSON dump
// that does not use lib/query/bound_expression.cc; and expressions that are refused.
#include <catch2/catch.hpp>

#include <functional>
#include <set>
#include <sstream>

#include <fkt/point_hit.h>
#include <nlohmann/json.hpp>

#include "lib/analyse/search_passes.h"
#include "lib/report/slowest_report.h"
#include "tests/golden/recordings.h"

using namespace fkt;
using namespace fkt::test;
using nlohmann::json;

namespace {

std::vector<json> lines(const std::string& text) {
  std::vector<json> events;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) events.push_back(json::parse(line));
  return events;
}

std::shared_ptr<const Filter> chosen(const Bytes& file, const std::string& text) {
  const Recording trace = std::move(*Recording::from_bytes(file));
  const auto filter = make_filter(trace, text, {});
  if (!filter) throw std::runtime_error(text + ": " + filter.error().message);
  return *filter;
}

// Events of the dump that the expression selects, as "CPU TIME". The file is opened twice: the
// filter is made with one Recording and used with the other.
std::vector<std::string> selected(const Bytes& file, const std::string& text) {
  const Recording trace = std::move(*Recording::from_bytes(file));
  Selection selection;
  const auto filter = make_filter(trace, text, {});
  REQUIRE(filter);
  selection.where = *filter;
  Analysis analysis(trace.info(), selection);
  std::vector<std::string> found;
  for (const Event& event : trace.events()) {
    if (!analysis.add(event).shown || event.is_gap()) continue;
    found.push_back(std::to_string(event.cpu) + " " + std::to_string(event.clock - T));
  }
  return found;
}

using Rule = std::function<bool(const json& entry, const json& exit)>;

// The same events determined from the dump: each event alone, or with `whole`, spans by their entry
// and exit, which are matched with a stack per task and per CPU.
std::vector<std::string> by_hand(const Bytes& file, bool whole, const Rule& rule) {
  const std::vector<json> events = lines(Analyzed(file).json_dump());
  std::vector<bool> hit(events.size());
  std::map<std::string, std::vector<std::size_t>> open;
  for (std::size_t i = 0; i < events.size(); i++) {
    const json& e = events[i];
    if (e.contains("lost")) continue;
    hit[i] = rule(e, e);
    if (!whole) continue;
    const std::string name = e["name"];
    const bool call = name.starts_with("sys");
    const std::string where = call ? "task " + e["pid"].dump() : "cpu " + e["cpu"].dump();
    const bool ends = name == "sysret" || name.ends_with("_exit");
    const bool begins = !ends && (call || name == "irq" || name == "vector" || name == "softirq");
    if (begins) {
      if (call) open[where].clear();
      open[where].push_back(i);
    } else if (ends && e.contains("took")) {
      const std::size_t entry = open[where].back();
      open[where].pop_back();
      hit[i] = hit[entry] = rule(events[entry], e);
    }
  }
  std::vector<std::string> found;
  for (std::size_t i = 0; i < events.size(); i++) {
    if (hit[i]) found.push_back(events[i]["cpu"].dump() + " " + events[i]["time"].dump());
  }
  return found;
}

std::string refused(const std::string& text) {
  const Recording trace = std::move(*Recording::from_bytes(find_recording()));
  const auto filter = make_filter(trace, text, {});
  return filter ? "accepted" : filter.error().message;
}

bool is(const json& e, const char* key, const json& value) {
  return e["args"].contains(key) && e["args"][key] == value;
}

}  // namespace

TEST_CASE("--where selects what an evaluation of the dump selects") {
  struct Case {
    const char* text;
    bool whole;
    Rule rule;
  };
  const auto took = [](const json& e) { return e.value("took", std::int64_t{-1}); };
  const std::vector<Case> cases = {
      {"cpu == 1", false, [](const json& e, const json&) { return e["cpu"] == 1; }},
      {"cpu & 1", false, [](const json& e, const json&) { return e["cpu"] == 1; }},
      {"cpu != 1 && pid != 0", false,
       [](const json& e, const json&) { return e["cpu"] != 1 && e["pid"] != 0; }},
      {"name ~ \"sys_*\"", false,
       [](const json& e, const json&) { return e["name"].get<std::string>().starts_with("sys_"); }},
      {"name == softirq", false, [](const json& e, const json&) { return e["name"] == "softirq"; }},
      {"name == 'softirq RCU'", false,
       [](const json& e, const json&) { return e["name"] == "softirq" && is(e, "vec", 9); }},
      {"name !~ '*i*'", false,
       [](const json& e, const json&) {
         // A vector is also known by its purpose: "vector local_timer".
         const std::string name = e["name"].get<std::string>() +
                                  (e["name"] == "vector" ? e["args"].value("vector_name", "") : "");
         return name.find('i') == name.npos;
       }},
      {"task == find", false, [](const json& e, const json&) { return e["task"] == "find"; }},
      {"task !~ 'idle*' && time >= 126us && time < 127us", false,
       [](const json& e, const json&) {
         return !e["task"].get<std::string>().starts_with("idle") && e["time"] >= 126000 &&
                e["time"] < 127000;
       }},
      {"layer == process || layer == 9", false,
       [](const json& e, const json&) {
         return e["code"] >= 0x400 || e["name"] == "clock" || e["name"] == "mask";
       }},
      {"state == D || state ~ 'Z*'", false,
       [](const json& e, const json&) { return is(e, "state", "D") || is(e, "state", "Z"); }},
      {"next == 730 || next == sh", false,
       [](const json& e, const json&) { return is(e, "next", 730) || is(e, "next_name", "sh"); }},
      {"!(cpu == 0) && (tid == find || vec == RCU)", false,
       [](const json& e, const json&) {
         return e["cpu"] != 0 && (is(e, "tid_name", "find") || is(e, "vec_name", "RCU"));
       }},
      {"path ~ '*/find'", false,
       [](const json& e, const json&) { return is(e, "path", "/usr/bin/find"); }},
      {"ip ~ 'do_one*'", false,
       [](const json& e, const json&) { return is(e, "ip_name", "do_one_thing+0x1c"); }},
      {"duration > 1us", true, [&](const json&, const json& x) { return took(x) > 1000; }},
      {"!(duration > 1us)", true, [&](const json&, const json& x) { return took(x) <= 1000; }},
      {"duration <= 100cycles && cpu == 1", true,
       [&](const json& e, const json& x) {
         return took(x) >= 0 && took(x) <= 100 && e["cpu"] == 1;
       }},
      {"ret == -ENOENT", true, [](const json&, const json& x) { return is(x, "ret", -2); }},
      {"ret == ENOENT", true,
       [](const json&, const json& x) { return is(x, "ret_name", "ENOENT"); }},
      {"name ~ 'sys_*' && ret > 0", true,
       [](const json& e, const json& x) {
         return e["name"].get<std::string>().starts_with("sys_") && x["args"].contains("ret") &&
                x["args"]["ret"] > 0;
       }},
      {"duration > 1us || name == sys_exit_group", true,
       [&](const json& e, const json& x) {
         return took(x) > 1000 || e["name"] == "sys_exit_group";
       }},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto expected = by_hand(find_recording(), c.whole, c.rule);
    CHECK(selected(find_recording(), c.text) == expected);
    CHECK_FALSE(expected.empty());
  }
}

TEST_CASE("events of instruments are selected by the names of their places") {
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE,
            Catalogue::builtin().to_lines() +
                "name\ttracepoint\t2\tblock_rq_issue\nname\ttracepoint\t7\tblock_rq_insert\n"
                "name\tfunction\t7\tvfs_read:entry\n"
                "values\ttracepoint\t7\t7\tnr_sector:u:1:0:64\n");
  b.pid(0, 42);
  b.event(0, T + 10, FKT_E_NMI);
  b.event(0, T + 20, FKT_E_POINT, 2);
  b.event(0, T + 30, FKT_E_POINT, 3);
  b.event(0, T + 40, FKT_E_POINT_VALUES, FKT_POINT_ARG(7, 1), {100});
  b.event(0, T + 50, FKT_E_POINT_VALUES, FKT_POINT_ARG(7, 1), {8});
  b.event(0, T + 60, FKT_E_FUNCTION_ENTRY, 7);
  const Bytes file = b.finish();
  using Found = std::vector<std::string>;
  CHECK(selected(file, "name == block_rq_issue") == Found{"0 20"});
  CHECK(selected(file, "name == block_rq_insert && nr_sector > 64") == Found{"0 40"});
  CHECK(selected(file, "name ~ 'block_*'") == Found{"0 20", "0 40", "0 50"});
  CHECK(selected(file, "name == 'vfs_read:entry'") == Found{"0 60"});
  // An event without a name of its place, and the name of the kind of event.
  CHECK(selected(file, "name == tracepoint") == Found{"0 20", "0 30", "0 40", "0 50"});
  CHECK(selected(file, "name != tracepoint && name != 'vfs_read:entry'") == Found{"0 10"});
  CHECK(selected(file, "name !~ 'block_*'") == Found{"0 10", "0 30", "0 60"});
  const Recording trace = std::move(*Recording::from_bytes(file));
  const auto wrong = make_filter(trace, "name == block_rq_isue", {});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("did you mean \"block_rq_issue\"?") != std::string::npos);
}

TEST_CASE("addresses are selected in any spelling, and bytes by their text") {
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() +
                                   "name\ttracepoint\t7\tsent\n"
                                   "values\ttracepoint\t7\t7\tfrom:ip4:1:0:32 to:ip6:2:0:128 "
                                   "only6:ip6:2:0:128 mac:bytes:4:0:48\n");
  b.pid(0, 42);
  const auto sent = [&](std::uint64_t at, std::uint64_t from, std::uint64_t last) {
    b.event(0, T + at, FKT_E_POINT_VALUES, FKT_POINT_ARG(7, 4),
            {from, 0x80feULL, last << 56, 0x0605040302abULL});
  };
  sent(10, 0x0100007f, 1);
  sent(20, 0x0200007f, 2);
  const Bytes file = b.finish();
  using Found = std::vector<std::string>;
  CHECK(selected(file, "to == 'fe80::1'") == Found{"0 10"});
  CHECK(selected(file, "to == 'FE80:0:0::0002'") == Found{"0 20"});
  CHECK(selected(file, "to ~ 'fe80::*' && to != 'fe80::1'") == Found{"0 20"});
  CHECK(selected(file, "from == '127.0.0.1'") == Found{"0 10"});
  CHECK(selected(file, "from !~ '*.1'") == Found{"0 20"});
  CHECK(selected(file, "mac == 'ab:02:03:04:05:06'") == Found{"0 10", "0 20"});
  const Recording trace = std::move(*Recording::from_bytes(file));
  const auto wrong = make_filter(trace, "only6 == 'fe80:1'", {});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message ==
        "column 10: only6 takes an address, as \"127.0.0.1\" or \"fe80::1\"");
}

TEST_CASE("a span selected as a whole has the values of its entry and of its exit") {
  const std::vector<std::string> read = {"1 126200", "1 126600"};
  CHECK(selected(find_recording(), "a0 == 3 && ret > 0x1000") == read);
  CHECK(selected(find_recording(), "a0 == 3 && duration >= 400cycles && duration <= 400ns") ==
        read);
  CHECK(selected(find_recording(), "a0 == 3") == std::vector<std::string>{"1 126200"});
  // `handled` is a field of the exit, `irq` of both entry and exit.
  const std::vector<std::string> irq = {"1 112845", "1 120874"};
  CHECK(selected(find_recording(), "irq == 14 && handled == 1 && duration > 0") == irq);
  CHECK(selected(find_recording(), "irq == ide0 && duration > 0") == irq);
}

TEST_CASE("statistics count what is selected, time stays all time") {
  Selection selection;
  selection.where = chosen(find_recording(), "name ~ \"sys_*\" && duration > 100us");
  const Analyzed a(find_recording(), selection);
  CHECK(a.counts() == "2\tsystem\tsysret\n1\tsystem\tsys_lstat\n1\tsystem\tsys_wait4\n");
  const Summary s = a.summary();
  REQUIRE(s.calls.size() == 2);
  CHECK(a.call("sys_lstat").total.sum == 122365);
  std::uint64_t sum = 0;
  for (const auto& row : s.histogram) sum += row.ticks;
  CHECK(sum == s.cpu_ticks);
  CHECK(a.report().find("Where:     name ~ \"sys_*\"") != std::string::npos);
}

TEST_CASE("what cannot be meant in this recording is said") {
  CHECK(refused("durtion > 1") == "column 1: no field \"durtion\"; did you mean \"duration\"?");
  CHECK(refused("cpu == 1 && nxt == 2") == "column 13: no field \"nxt\"; did you mean \"next\"?");
  CHECK(refused("name == sched_swich") == "column 9: no event \"sched_swich\"");
  CHECK(refused("name == sys_lsat") ==
        "column 9: no event \"sys_lsat\"; did you mean \"sys_lstat\"?");
  CHECK(refused("name == sys_400") == "accepted");
  CHECK(refused("layer == sytem") == "column 10: no layer \"sytem\"; did you mean \"system\"?");
  CHECK(refused("cpu == one") == "column 8: cpu takes a number");
  CHECK(refused("cpu > 1ms") == "column 7: cpu takes a number");
  CHECK(refused("cpu ~ 1") ==
        "column 7: cpu is a number: it fits no pattern, compare it with == or <");
  CHECK(refused("task > find") == "column 8: task is a text: compare it with ==, !=, ~ or !~");
  CHECK(refused("task == 730") == "column 9: task takes a text, in quotation marks");
  CHECK(refused("duration > soon") ==
        "column 12: duration takes a time (as 250us, 1.5ms, 12000cycles)");
  CHECK(refused("cpu == 1 && duration > 5") ==
        "column 24: duration: 5 what? 5us, 5ms, 5s, 5cycles");
  CHECK(refused("time < 12") == "column 8: time: 12 what? 12us, 12ms, 12s, 12cycles");
  CHECK(refused("duration > 0") == "accepted");
  CHECK(refused("a0 == three") == "column 7: a0 takes a number");
  CHECK(refused("path == 3") == "column 9: path takes a text, in quotation marks");
}

TEST_CASE("around an event: stretches of time, joined where they touch") {
  const Recording trace = std::move(*Recording::from_bytes(find_recording()));
  Selection selection;
  selection.where = *make_event_filter(trace, "softirq_raise", {});
  const std::vector<Interval> apart = *around(trace, selection, 100, {});
  REQUIRE(apart.size() == 2);
  CHECK(apart[0].from == T + 120800);
  CHECK(apart[0].to == T + 121001);
  CHECK(apart[1].from == T + 126250);
  CHECK(apart[1].to == T + 126451);
  CHECK(around(trace, selection, 5000, {})->size() == 1);
  CHECK(extent(trace, selection, {})->from == T + 120900);
  CHECK(extent(trace, selection, {})->to == T + 126351);

  Selection near;
  near.parts = apart;
  const Analyzed a(find_recording(), near);
  std::vector<json> shown = lines(a.json_dump());
  CHECK(shown.size() == 7);
  for (const json& e : shown) {
    const std::uint64_t clock = T + e["time"].get<std::uint64_t>();
    CHECK(((clock >= apart[0].from && clock < apart[0].to) ||
           (clock >= apart[1].from && clock < apart[1].to)));
  }
  CHECK(a.summary().cpu_ticks == 2 * (201 + 201));  // two CPUs, both intervals
}

TEST_CASE("the slowest spans are those with the longest time in the dump") {
  std::vector<std::uint64_t> all;
  for (const json& e : lines(Analyzed(find_recording()).json_dump())) {
    if (e.contains("took") && e["name"] == "sysret") all.push_back(e["took"]);
  }
  std::sort(all.rbegin(), all.rend());
  REQUIRE(all.size() > 3);
  const Recording trace = std::move(*Recording::from_bytes(find_recording()));
  const auto found = slowest(trace, {}, "sys*", 3, {});
  REQUIRE(found.size() == 3);
  for (std::size_t i = 0; i < found.size(); i++) CHECK(found[i].duration == all[i]);
  CHECK(found[1].begin == T + 3000);
  CHECK(found[1].task == "find");
  CHECK(found[1].cpu == 1);
  CHECK(slowest(trace, {}, "irq 14 ide0", 9, {}).size() == 1);
  CHECK(slowest(trace, {}, "irq", 9, {}).size() == 1);
  CHECK(slowest(trace, {}, "sys_open", 9, {}).empty());
  CHECK(surroundings(found, 10).size() == 2);  // execve is separate from wait4 or nested in it
}

TEST_CASE("the CPU of a slowest span is the one where it began") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 0);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 200, FKT_E_SWITCH_S, 0);
  b.event(1, T + 300, FKT_E_WAKING, 42);
  b.event(1, T + 400, FKT_E_SWITCH_R, 42);
  b.event(1, T + 500, FKT_E_SYS_EXIT, 1);
  const Recording trace = std::move(*Recording::from_bytes(b.finish()));
  const auto found = slowest(trace, {}, "sys_read", 1, {});
  REQUIRE(found.size() == 1);
  CHECK(found[0].cpu == 0);
}
