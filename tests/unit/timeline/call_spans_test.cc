// SPDX-License-Identifier: GPL-2.0-only
// Tests that events of whole calls are spans for every reader: where they began, with their exact
// durations.
#include <catch2/catch.hpp>

#include "lib/analyse/search_passes.h"
#include "lib/scan/scan.h"
#include "lib/timeline/timeline.h"
#include "tests/unit/call_recording.h"
#include "tests/unit/everything_said.h"
#include "tests/unit/how_many.h"
#include "tests/unit/slices.h"

using namespace fkt;
using namespace fkt::test;

namespace {

using Kind = CallRecording::Kind;

// Calls of functions as the page's time line shows them.
struct SeenCalls : StateObserver {
  const Timeline& timeline;
  std::multiset<CallRecording::Call> calls;
  explicit SeenCalls(const Timeline& of) : timeline(of) {}
  void slice(const Slice& slice) override {
    if (slice.kind != SliceKind::call && slice.kind != SliceKind::interrupt) return;
    if (!slice.begun || !slice.ended) return;
    if (!is_complete(timeline.types()[slice.value].kind)) return;
    calls.insert({timeline.types()[slice.value].name, timeline.tasks()[slice.task].tid, slice.from,
                  slice.to});
  }
};

std::multiset<CallRecording::Call> calls_of_page(const Recording& trace) {
  Timeline timeline(trace);
  PassControl control;
  timeline.read(control);
  SeenCalls seen(timeline);
  timeline.follow(timeline.begin(), timeline.end(), seen);
  return seen.calls;
}

std::map<std::string, CallRecording::OfFunction> functions(const Analysis& analysis) {
  std::map<std::string, CallRecording::OfFunction> functions;
  for (TypeIndex type = 0; type < analysis.types().size(); type++) {
    if (!is_complete(analysis.types()[type].kind)) continue;
    const SpanStats& stats = analysis.profile().stats(type);
    if (stats.total.count == 0) continue;
    functions[analysis.types()[type].name] = {stats.total.count, stats.total.sum, stats.self_whole};
  }
  return functions;
}

std::string text(const std::map<std::string, CallRecording::OfFunction>& functions, bool own) {
  std::string text;
  for (const auto& [name, of] : functions) {
    text += name + " " + std::to_string(of.count) + " " + std::to_string(of.ticks) +
            (own ? " " + std::to_string(of.own) : "") + "\n";
  }
  return text;
}

std::string text(const std::multiset<CallRecording::Call>& calls) {
  std::string text;
  for (const auto& [name, tid, begin, end] : calls) {
    text += name + " of " + std::to_string(tid) + " " +
            std::to_string(static_cast<std::int64_t>(begin - T)) + "-" + std::to_string(end - T) +
            "\n";
  }
  return text;
}

// Fails with the text around the first difference.
void check_same(const std::string& expected, const std::string& found) {
  if (expected == found) return;
  std::size_t at = 0;
  while (at < std::min(found.size(), expected.size()) && found[at] == expected[at]) at++;
  at -= std::min<std::size_t>(at, 100);
  FAIL("--- expected\n" << expected.substr(at, 240) << "\n--- found\n" << found.substr(at, 240));
}

std::string said_by_events(const Recording& trace) {
  Analysis analysis(trace.info(), {});
  analysis.keep_histograms();
  for (const Event& event : trace.events()) analysis.add(event);
  analysis.finish(true, recording_end(trace));
  return everything_said(trace, analysis);
}

std::string said_by_scan(const Recording& trace, unsigned threads) {
  Analysis analysis(trace.info(), {});
  analysis.keep_histograms();
  scan(trace, analysis, {.threads = threads});
  analysis.finish(true, recording_end(trace));
  return everything_said(trace, analysis);
}

RecordingBuilder builder() {
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() +
                                   "name\tfunction\t3\tvfs_read\nname\tfunction\t4\text4_read\n");
  return b;
}

void call(RecordingBuilder& b, std::uint32_t cpu, std::uint64_t written, std::uint32_t function,
          std::uint64_t begin, std::uint64_t end) {
  b.event(cpu, T + written, FKT_E_CALL, function, {fkt_call_word(T + begin, end - begin)});
}

// A user program's function: as call().
void user_call(RecordingBuilder& b, std::uint64_t written, std::uint64_t begin, std::uint64_t end) {
  b.event(0, T + written, FKT_E_USER_CALL, 3, {fkt_call_word(T + begin, end - begin)});
}

std::string dumped(RecordingBuilder& b) {
  const Analyzed a(b);
  const std::string dump = a.dump();
  std::string names;
  for (std::size_t at = 0; at < dump.size();) {
    const std::size_t end = dump.find('\n', at);
    names += dump.substr(at + 57, end + 1 - (at + 57));
    at = end + 1;
  }
  return names;
}

RecordingBuilder user_builder() {
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE,
            Catalogue::builtin().to_lines() + "name\tuser_function\t3\tlibx:f\n");
  return b;
}

}  // namespace

TEST_CASE("calls of user programs are below system calls, and user time") {
  RecordingBuilder b = user_builder();
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 110, FKT_E_SYS_EXIT, 0);
  b.event(0, T + 130, FKT_E_SYS_ENTRY, 1);
  b.event(0, T + 150, FKT_E_SYS_EXIT, 0);
  user_call(b, 165, 125, 160);
  user_call(b, 185, 120, 180);
  b.event(0, T + 200, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 210, FKT_E_SYS_EXIT, 0);
  CHECK(dumped(b) ==
        "0010 sys_read\n"
        "0013 sysret ret=0 (sys_read took 10)\n"
        "0564 libx:f\n"
        "0564   libx:f\n"
        "0010     sys_write\n"
        "0013     sysret ret=0 (sys_write took 20)\n"
        "0564   libx:f returns (took 35)\n"
        "0564 libx:f returns (took 60)\n"
        "0010 sys_read\n"
        "0013 sysret ret=0 (sys_read took 10)\n");
}

TEST_CASE("a user program's call that began before the recording is around the system call in it") {
  RecordingBuilder b = user_builder();
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 150, FKT_E_SYS_EXIT, 0);
  user_call(b, 165, 20, 160);
  const Analyzed a(b);
  CHECK(a.counts() == "1\tsystem\tsys_read\n1\tsystem\tsysret\n1\tinstruments\tuser_call\n");
  const std::string dump = dumped(b);
  INFO(dump);
  CHECK(dump.find("sysret ret=0 (sys_read took 50)") != std::string::npos);
  CHECK(dump.find("libx:f returns (took 140)") != std::string::npos);
}

TEST_CASE("calls are shown where they began, nested, under the system call") {
  RecordingBuilder b = builder();
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  call(b, 0, 165, 4, 120, 160);
  call(b, 0, 190, 3, 110, 185);
  b.event(0, T + 200, FKT_E_SYS_EXIT, 0);
  const Analyzed a(b);
  std::string names;
  for (const char* part = a.dump().c_str(); const char* end = std::strchr(part, '\n');
       part = end + 1) {
    names += std::string(part + 57, end) + "\n";
  }
  CHECK(names ==
        "0010 sys_read\n"
        "0500   vfs_read\n"
        "0500     ext4_read\n"
        "0500     ext4_read returns (took 40)\n"
        "0500   vfs_read returns (took 75)\n"
        "0013 sysret ret=0 (sys_read took 100)\n");
  CHECK(a.counts() == "2\tinstruments\tcall\n1\tsystem\tsys_read\n1\tsystem\tsysret\n");
}

TEST_CASE("each call has its exact begin, duration and own time") {
  for (unsigned seed = 0; seed < recordings(60); seed++) {
    INFO("seed " << seed);
    const bool held = seed % 3 == 0;
    CallRecording recording(seed, 1 + seed % 4, 2500, held ? Kind::held : Kind::whole, !held);
    const Recording trace = opened(recording.finish());
    Analysis analysis(trace.info(), {});
    std::uint64_t before = 0;
    for (const Event& event : trace.events()) {
      REQUIRE(event.clock >= before);
      before = event.clock;
      analysis.add(event);
    }
    analysis.finish(true, recording_end(trace));
    CHECK(trace.integrity().notes.empty());
    check_same(text(recording.calls()), text(calls_of_page(trace)));
    check_same(text(recording.functions(), false), text(functions(analysis), false));
    CHECK(trace.integrity().events == trace.info().totals->events);
    CHECK(summarize(analysis, trace.integrity(), false).missing == std::vector<std::string>{});
  }
}

TEST_CASE("calls have their own time") {
  for (unsigned seed = 0; seed < recordings(40); seed++) {
    INFO("seed " << seed);
    const Kind kind = seed % 3 == 0 ? Kind::held : Kind::whole;
    CallRecording recording(seed, 1 + seed % 4, 2500, kind, false);
    const Recording trace = opened(recording.finish());
    Analysis analysis(trace.info(), {});
    for (const Event& event : trace.events()) analysis.add(event);
    analysis.finish(true, recording_end(trace));
    // Where a call's end is late, its own time goes on until its event was written.
    std::uint64_t differences = 0;
    const auto found = functions(analysis);
    REQUIRE_FALSE(found.empty());
    REQUIRE(found.size() == recording.functions().size());
    for (const auto& [name, of] : found) {
      const std::uint64_t own = recording.functions().at(name).own;
      differences += std::max(own, of.own) - std::min(own, of.own);
    }
    CHECK(differences <= 2 * 60 * trace.pages().size());
  }
}

TEST_CASE("the fast scan says the same of calls as their single events") {
  for (const Kind kind : {Kind::whole, Kind::switches, Kind::gaps, Kind::held}) {
    for (unsigned seed = 0; seed < recordings(40); seed++) {
      INFO("seed " << seed << " kind " << static_cast<int>(kind));
      const Bytes file = CallRecording(seed, 1 + seed % 4, 1500, kind).finish();
      const std::string expected = said_by_events(opened(file));
      for (const unsigned threads : {1U, 3U}) {
        check_same(expected, said_by_scan(opened(file), threads));
      }
    }
  }
}

TEST_CASE("where events are lost, nearly all calls are shown, and truly") {
  std::size_t shown = 0, wrong = 0, all = 0;
  for (unsigned seed = 0; seed < recordings(40); seed++) {
    INFO("seed " << seed);
    CallRecording recording(seed, 1 + seed % 4, 2500, Kind::gaps);
    const Recording trace = opened(recording.finish());
    const std::multiset<CallRecording::Call> calls = calls_of_page(trace);
    // A call in an interrupt may be hidden by a gap; its end is then taken for that of a call of
    // the same function around it.
    for (const CallRecording::Call& call : calls) shown += recording.calls().contains(call);
    wrong += calls.size();
    all += recording.calls().size();
  }
  CHECK(shown > all * 99 / 100);
  CHECK(wrong - shown < all / 1000);
}

TEST_CASE("a slice shows of calls what the recording shows of that part") {
  for (const Kind kind : {Kind::whole, Kind::switches, Kind::held}) {
    for (const unsigned seed : seeds(10, {37})) {
      CallRecording recording(seed, 1 + seed % 4, 1500, kind, kind != Kind::held);
      const Bytes file = recording.finish();
      const std::uint64_t end = recording.end();
      for (unsigned part = 0; part < 5; part++) {
        const std::uint64_t from = T + (end - T) / 6 * part, to = from + (end - T) / 5;
        INFO("seed " << seed << " kind " << static_cast<int>(kind) << " part " << part);
        Selection selection;
        selection.from = from;
        selection.to = to;
        const Bytes slice = slice_of(file, from, to);
        const Analyzed whole(file, selection), sliced(slice);
        check_same(whole.json_dump(), sliced.json_dump());
        check_same(whole.counts(), sliced.counts());
        CHECK(sliced.summary().missing == std::vector<std::string>{});
        check_same(text(functions(whole.analysis()), true),
                   text(functions(sliced.analysis()), true));
        const Recording trace = opened(slice);
        CHECK(trace.integrity().notes.empty());
        check_same(said_by_events(opened(slice)), said_by_scan(opened(slice), 2));
        // A slice of the slice.
        const std::uint64_t middle = from + (to - from) / 3;
        const Analyzed again(slice_of(slice, middle, to));
        selection.from = middle;
        check_same(Analyzed(file, selection).json_dump(), again.json_dump());
      }
    }
  }
}

TEST_CASE("a slice of several stretches shows of calls what the recording shows of them") {
  for (const unsigned seed : seeds(20, {204})) {
    const bool held = seed % 2 == 1;
    INFO("seed " << seed);
    CallRecording recording(seed, 1 + seed / 2 % 4, 1500, held ? Kind::held : Kind::whole, !held);
    const Bytes file = recording.finish();
    const std::uint64_t part = (recording.end() - T) / 9;
    const std::vector<Interval> stretches = {{T + part, T + 3 * part},
                                             {T + 5 * part, T + 7 * part}};
    std::string expected;
    for (const Interval& stretch : stretches) {
      Selection selection;
      selection.from = stretch.from;
      selection.to = stretch.to;
      expected += Analyzed(file, selection).json_dump();
    }
    const Analyzed sliced(slice_of(file, stretches));
    check_same(expected, sliced.json_dump());
    CHECK(sliced.summary().missing == std::vector<std::string>{});
  }
}

TEST_CASE("where switches are not recorded, calls have their exact begins and durations") {
  for (unsigned seed = 0; seed < recordings(40); seed++) {
    INFO("seed " << seed);
    CallRecording recording(seed, 1 + seed % 4, 2500, Kind::switches);
    const Recording trace = opened(recording.finish());
    Analysis analysis(trace.info(), {});
    for (const Event& event : trace.events()) analysis.add(event);
    analysis.finish(true, recording_end(trace));
    check_same(text(recording.calls()), text(calls_of_page(trace)));
    check_same(text(recording.functions(), false), text(functions(analysis), false));
  }
}
