// SPDX-License-Identifier: GPL-2.0-only
// Tests spans of kinds that only the file's catalogue knows: types told apart by a key, functions
// of user programs below what the kernel does for them.
#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "lib/analyse/search_passes.h"
#include "lib/scan/scan.h"
#include "lib/timeline/timeline.h"
#include "tests/unit/busy_recording.h"
#include "tests/unit/everything_said.h"
#include "tests/unit/slices.h"

using namespace fkt;
using namespace fkt::test;

namespace {

constexpr std::uint32_t kSysRead = 0, kExecve = 59;
// Ids of BusyRecording::catalogue(). The key is the argument; kUserEnd has none.
constexpr std::uint32_t kFunction = 0x104, kFunctionEnd = 0x105, kUser = 0x108, kUserEnd = 0x109;

RecordingBuilder kinds_builder() {
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE, BusyRecording::catalogue());
  b.section(FKT_SEC_SYSCALLS, "64\t0\tread\n64\t59\texecve\n");
  return b;
}

const SpanStats& stats(const Analysis& analysis, std::string_view name) {
  for (TypeIndex type = 0; type < analysis.types().size(); type++) {
    if (analysis.types()[type].name == name) return analysis.profile().stats(type);
  }
  throw std::runtime_error("no type " + std::string(name));
}

std::uint64_t outcomes(const SpanStats& stats, Outcome which) {
  return stats.outcomes[static_cast<std::size_t>(which)];
}

std::uint64_t row(const Analyzed& a, std::string_view name) {
  for (const Summary::EventRow& row : a.summary().histogram) {
    if (row.name == name) return row.ticks;
  }
  throw std::runtime_error("no row " + std::string(name));
}

// Number and ticks of the complete spans, by name.
auto complete_spans(const Analyzed& a) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> spans;
  for (const Summary::DurationRow& row : a.summary().durations) {
    spans[row.name] = {row.total.count, row.total.sum};
  }
  return spans;
}

// Complete calls and interrupts of the page's timeline: name, begin, end.
struct SeenKinds : StateObserver {
  const Timeline& timeline;
  std::multiset<std::tuple<std::string, std::uint64_t, std::uint64_t>> spans;
  explicit SeenKinds(const Timeline& of) : timeline(of) {}
  void slice(const Slice& slice) override {
    if (slice.kind != SliceKind::call && slice.kind != SliceKind::interrupt) return;
    if (!slice.begun || !slice.ended) return;
    spans.insert({timeline.types()[slice.value].name, slice.from - T, slice.to - T});
  }
};

auto spans_of_page(const Bytes& file) {
  const Recording trace = std::move(*Recording::from_bytes(file));
  Timeline timeline(trace);
  PassControl control;
  timeline.read(control);
  SeenKinds seen(timeline);
  timeline.follow(timeline.begin(), timeline.end(), seen);
  return seen.spans;
}

std::string said_by_scan(const Bytes& file, unsigned threads) {
  const Recording trace = std::move(*Recording::from_bytes(file));
  Analysis analysis(trace.info(), {});
  analysis.keep_histograms();
  scan(trace, analysis, {.threads = threads});
  analysis.finish(true, recording_end(trace));
  return everything_said(trace, analysis);
}

std::string said_by_events(const Bytes& file) {
  const Recording trace = std::move(*Recording::from_bytes(file));
  Analysis analysis(trace.info(), {});
  analysis.keep_histograms();
  for (const Event& event : trace.events()) analysis.add(event);
  analysis.finish(true, recording_end(trace));
  return everything_said(trace, analysis);
}

}  // namespace

TEST_CASE("functions of one event are told apart by their key, and named by the file") {
  RecordingBuilder b = kinds_builder();
  b.pid(0, 42);
  b.event(0, T + 100, kFunction, 3);
  b.event(0, T + 110, kFunction, 49'999);
  b.event(0, T + 130, kFunctionEnd, 49'999);
  b.event(0, T + 140, kFunction, 17);
  b.event(0, T + 145, kFunctionEnd, 17);
  b.event(0, T + 200, kFunctionEnd, 3);
  b.event(0, T + 300, kFunction, 3);
  b.event(0, T + 310, kFunction, 17);  // its end is not recorded
  b.event(0, T + 320, kFunctionEnd, 3);
  b.event(0, T + 330, kFunctionEnd, 5);  // its begin is not recorded
  const Bytes file = b.finish();
  const Analyzed a(file);
  const SpanStats& write = stats(a.analysis(), "vfs_write");
  CHECK(write.entries == 2);
  CHECK(write.total.sum == 100 + 20);
  CHECK(write.self_whole == 75 + 10);
  CHECK(write.sub == 25 + 10);
  REQUIRE(write.children.size() == 2);
  CHECK(stats(a.analysis(), "kmalloc").total.sum == 20);
  CHECK(stats(a.analysis(), "function 17").total.sum == 5);
  CHECK(outcomes(stats(a.analysis(), "function 17"), Outcome::no_exit) == 1);
  CHECK(outcomes(stats(a.analysis(), "function 5"), Outcome::no_entry) == 1);
  CHECK(a.dump().find("function nr=vfs_write") != std::string::npos);
  CHECK(a.dump().find("function nr=17") != std::string::npos);
  CHECK(a.json_dump().find(R"("nr":49999,"nr_name":"kmalloc")") != std::string::npos);
  using Spans = decltype(spans_of_page(file));
  CHECK(spans_of_page(file) == Spans{{"vfs_write", 100, 200},
                                     {"kmalloc", 110, 130},
                                     {"function 17", 140, 145},
                                     {"vfs_write", 300, 320}});
}

TEST_CASE("expressions know the names that keys have") {
  RecordingBuilder b = kinds_builder();
  b.pid(0, 42);
  b.event(0, T + 100, kFunction, 3).event(0, T + 110, kFunctionEnd, 3);
  b.event(0, T + 120, kFunction, 4).event(0, T + 150, kFunctionEnd, 4);
  b.event(0, T + 160, kFunction, 49'999).event(0, T + 170, kFunctionEnd, 49'999);
  const Bytes file = b.finish();
  const Recording trace = std::move(*Recording::from_bytes(file));
  const auto entries = [&](const char* expression, std::string_view name) {
    const auto filter = make_event_filter(trace, expression, {});
    REQUIRE(filter);
    Selection selection;
    selection.where = *filter;
    const Analyzed selected(file, selection);
    return stats(selected.analysis(), name).entries;
  };
  CHECK(entries("name == \"vfs_write\"", "vfs_write") == 1);
  CHECK(entries("name == \"vfs_write\"", "kmalloc") == 0);
  CHECK(entries("name == \"function 4\"", "function 4") == 1);
  CHECK(entries("name == \"function\"", "kmalloc") == 1);
  CHECK(entries("nr ~ \"k*\"", "kmalloc") == 1);
  CHECK(entries("nr ~ \"k*\"", "vfs_write") == 0);
  const auto filter = make_event_filter(trace, "name == \"kmallok\"", {});
  REQUIRE_FALSE(filter);
  CHECK(filter.error().message.find("did you mean \"kmalloc\"") != std::string::npos);
}

TEST_CASE("a function of a user program goes on through system calls, and its time is user time") {
  RecordingBuilder b = kinds_builder();
  b.pid(0, 42);
  b.event(0, T + 100, kUser, 1);
  b.event(0, T + 150, FKT_E_SYS_ENTRY, kSysRead);
  b.event(0, T + 160, FKT_E_IRQ_ENTRY, 14);
  b.event(0, T + 165, FKT_E_IRQ_EXIT, 14);
  b.event(0, T + 190, FKT_E_SYS_EXIT, 0);
  b.event(0, T + 200, kUser, 2);
  b.event(0, T + 220, kUserEnd);
  b.event(0, T + 300, kUserEnd);
  b.event(0, T + 340, FKT_E_SYS_ENTRY, kSysRead);
  b.event(0, T + 350, FKT_E_SYS_EXIT, 0);
  const Bytes file = b.finish();
  const Analyzed a(file);
  const SpanStats& outer = stats(a.analysis(), "user 1");
  CHECK(outer.total.count == 1);
  CHECK(outer.total.sum == 200);
  CHECK(outer.self_whole == 50 + 10 + 80);
  CHECK(outer.sub == 35 + 20);
  CHECK(stats(a.analysis(), "user 2").total.sum == 20);
  CHECK(a.call("sys_read").total.count == 2);
  CHECK(outcome(a.call("sys_read"), Outcome::no_exit) == 0);
  CHECK(of(a.cpu(0), CpuState::user) == 50 + 10 + 20 + 80 + 40);
  CHECK(of(a.cpu(0), CpuState::system) == 35 + 10);
  CHECK(of(a.cpu(0), CpuState::irq) == 5);
  CHECK(of(a.cpu(0), CpuState::running) == 0);
  CHECK(row(a, "user 1") == 140);
  CHECK(row(a, "other user code") == 40);
  CHECK_THROWS(row(a, "calls not seen whole"));
  using Spans = decltype(spans_of_page(file));
  CHECK(spans_of_page(file) == Spans{{"user 1", 100, 300},
                                     {"sys_read", 150, 190},
                                     {"irq 14 ata_piix", 160, 165},
                                     {"user 2", 200, 220},
                                     {"sys_read", 340, 350}});
  CHECK(said_by_scan(file, 1) == said_by_events(file));
}

TEST_CASE("an event of user mode says that the call around it has ended") {
  RecordingBuilder b = kinds_builder();
  b.pid(0, 42);
  b.event(0, T + 100, kUser, 1);
  b.event(0, T + 150, FKT_E_SYS_ENTRY, kSysRead);  // its exit is not recorded
  b.event(0, T + 200, kUser, 2);
  b.event(0, T + 210, kUserEnd);
  b.event(0, T + 300, kUserEnd);
  const Analyzed a(b);
  CHECK(outcome(a.call("sys_read"), Outcome::no_exit) == 1);
  CHECK(stats(a.analysis(), "user 1").total.sum == 200);
  CHECK(stats(a.analysis(), "user 2").total.sum == 10);
}

TEST_CASE("execve ends the functions of the program that it replaces, and not itself") {
  RecordingBuilder b = kinds_builder();
  b.pid(0, 42);
  b.event(0, T + 100, kUser, 1).event(0, T + 110, kUser, 2);
  b.event(0, T + 120, FKT_E_SYS_ENTRY, kExecve);
  b.event(0, T + 150, FKT_E_EXEC, 2, {pair(42, 42), chars("/bin/ls")});
  b.event(0, T + 180, FKT_E_SYS_EXIT, 0);
  b.event(0, T + 190, kUser, 3).event(0, T + 195, kUserEnd);
  const Bytes file = b.finish();
  const Analyzed a(file);
  CHECK(a.call("sys_execve").total.sum == 60);
  CHECK(outcomes(stats(a.analysis(), "user 1"), Outcome::no_exit) == 1);
  CHECK(outcomes(stats(a.analysis(), "user 2"), Outcome::no_exit) == 1);
  CHECK(stats(a.analysis(), "user 3").total.sum == 5);
  using Spans = decltype(spans_of_page(file));
  CHECK(spans_of_page(file) == Spans{{"sys_execve", 120, 180}, {"user 3", 190, 195}});
}

TEST_CASE("a gap hides the ends of user functions too") {
  RecordingBuilder b = kinds_builder();
  b.pid(0, 42);
  b.event(0, T + 100, kUser, 1);
  b.lost(0, T + 120, T + 200, 5);
  b.event(0, T + 210, kUserEnd);
  const Analyzed a(b);
  CHECK(stats(a.analysis(), "user 1").total.count == 0);
  CHECK(outcomes(stats(a.analysis(), "user 1"), Outcome::in_gap) == 1);
}

TEST_CASE("50,000 functions under one event id are 50,000 types") {
  constexpr std::uint32_t kFunctions = 50'000;
  RecordingBuilder b;
  std::string names;
  for (std::uint32_t i = 0; i < kFunctions; i++) {
    names += "name\tfunctions\t" + std::to_string(i) + "\tf_" + std::to_string(i) + '\n';
  }
  b.section(FKT_SEC_CATALOGUE, BusyRecording::catalogue() + names);
  b.pid(0, 42);
  std::uint64_t clock = T;
  // All of them in one system call, whose list of children is as long; then some more than once.
  b.event(0, clock += 10, FKT_E_SYS_ENTRY, kSysRead);
  for (std::uint32_t i = 0; i < kFunctions; i++) {
    b.event(0, clock += 10, kFunction, i);
    b.event(0, clock += 1 + i % 7, kFunctionEnd, i);
  }
  b.event(0, clock += 10, FKT_E_SYS_EXIT, 0);
  for (std::uint32_t i = 0; i < kFunctions; i += 3) {
    b.event(0, clock += 10, kFunction, i);
    b.event(0, clock += 100, kFunctionEnd, i);
  }
  const Bytes file = b.finish();
  const Analyzed a(file);
  const Analysis& analysis = a.analysis();
  std::uint32_t functions = 0;
  bool right = true;
  for (TypeIndex type = 0; type < analysis.types().size(); type++) {
    const SpanType& span = analysis.types()[type];
    if (span.event != kFunction) continue;
    functions++;
    const bool twice = span.value % 3 == 0;
    const SpanStats& of = analysis.profile().stats(type);
    right = right && span.name == "f_" + std::to_string(span.value) &&
            of.total.count == 1U + twice && of.total.sum == 1 + span.value % 7 + 100U * twice;
  }
  CHECK(functions == kFunctions);
  CHECK(right);
  const ChildList& children = stats(analysis, "sys_read").children;
  REQUIRE(children.size() == kFunctions);
  std::set<TypeIndex> types;
  for (const Child& child : children) {
    types.insert(child.type);
    right = right && child.count == 1 && child.ticks == 1 + analysis.types()[child.type].value % 7;
  }
  CHECK(types.size() == kFunctions);
  CHECK(right);
  const std::string expected = said_by_events(file);
  for (const unsigned threads : {1U, 3U}) CHECK(said_by_scan(file, threads) == expected);
}

TEST_CASE("a scan of more kinds than have tables of their own") {
  std::string lines = Catalogue::builtin().to_lines();
  std::vector<std::uint32_t> begins;
  for (std::uint32_t id = 0x100; id < 0x7c0; id++) {
    if (id == 0x400) id = 0x500;
    char hex[8];
    std::snprintf(hex, sizeof hex, "%x", id);
    // The last few kinds have no key: the id tells their types apart. All but the last ten begin,
    // and all but one of those that have a key, for a pair.
    const bool ends = id >= 0x7b6 || id == 0x79f;
    const std::string kind = "kind" + std::to_string(id >= 0x7b6 ? id - 20 : ends ? id - 1 : id);
    const std::string key = id < 0x7a0 ? "nr:u:0:0:24:key" : "";
    lines += "event\t" + std::string(hex) + "\t" + kind + "\t0\t" + (ends ? "end:" : "begin:") +
             kind + "\t0\t" + key + "\n";
    begins.push_back(id);
  }
  lines += "pair\tf00\t64\t79e\t79f\tnumber\n";
  std::mt19937 random(1);
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE, lines);
  b.pid(0, 42);
  std::uint64_t clock = T;
  for (unsigned i = 0; i < 4000; i++) {
    const std::uint32_t id =
        begins[begins.size() - 1 - random() % 60 * (random() % 25 + 1) % begins.size()];
    b.event(0, clock += 1 + random() % 90, id, random() % 3);
    if (random() % 4 == 0) b.event(0, clock += 5, 0xf00 + random() % 64, fkt_pair_arg(3, 0));
    clock += 5;
    if (random() % 40 == 0) b.event(0, clock, FKT_E_MASK, 0, {1025});
  }
  const Bytes file = b.finish();
  const std::string expected = said_by_events(file);
  for (const unsigned threads : {1U, 3U}) CHECK(said_by_scan(file, threads) == expected);
}

TEST_CASE("slices keep the keys of what is open at the cut, and user functions below it") {
  for (unsigned seed = 1; seed < 12; seed += 2) {
    BusyRecording recording(seed, 2, 300);
    const std::uint64_t end = recording.end();
    const Bytes file = recording.finish();
    for (unsigned part = 1; part < 6; part++) {
      const std::uint64_t from = T + (end - T) / 7 * part, to = from + (end - T) / 7;
      INFO("seed " << seed << " part " << part);
      Selection selection;
      selection.from = from;
      selection.to = to;
      const Analyzed whole(file, selection), slice(slice_of(file, from, to));
      CHECK(slice.json_dump() == whole.json_dump());
      CHECK(slice.counts() == whole.counts());
      CHECK(complete_spans(slice) == complete_spans(whole));
    }
  }
}
