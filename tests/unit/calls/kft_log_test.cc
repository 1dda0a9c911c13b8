// SPDX-License-Identifier: GPL-2.0-only
// Tests KFT's text log of a recording: its lines are the recording's calls, its head has its begin
// and end and the dropped calls, and reading the log finds the same calls.
#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <tuple>

#include "lib/analyse/analysis.h"
#include "lib/calls/call_trace.h"
#include "lib/calls/kft_nesting.h"
#include "lib/report/kft_head.h"
#include "tests/unit/call_recording.h"
#include "tests/unit/texts.h"

using namespace fkt;
using namespace fkt::test;

namespace {

using LoggedCall = std::tuple<std::string, std::int64_t, std::uint64_t, std::uint64_t>;

std::string log_of(const Recording& trace) {
  Analysis analysis(trace.info(), {});
  std::string text = kft_head(trace, find_kft_ends(trace));
  const TimeFormat time(TimeUnit::us, 1e9);
  CallTrace log(
      {.kft_log = true}, time, analysis.start(),
      [&](TypeIndex type) { return std::string_view(analysis.types()[type].name); },
      [](std::uint32_t) { return std::string(); },
      [&](TextWriter& lines) {
        text += lines.view();
        lines.clear();
      });
  analysis.watch(log);
  for (const Event& event : trace.events({})) analysis.add(event);
  analysis.finish(true, recording_end(trace));
  log.finish();
  return text;
}

}  // namespace

TEST_CASE("KFT's log of a recording has its calls, in the order in which they began") {
  CallRecording recording(5, 1, 3000, CallRecording::Kind::whole, false);
  const Result<Recording> trace = Recording::from_bytes(recording.finish());
  REQUIRE(trace);
  std::multiset<LoggedCall> expected, found;
  for (const auto& [name, tid, begin, end] : recording.calls()) {
    expected.emplace(name, tid, (begin - RecordingBuilder::kStart) / 1000, (end - begin) / 1000);
  }
  REQUIRE(expected.size() > 100);
  const std::string log = log_of(*trace);
  CHECK(looks_like_kft(log));
  std::uint64_t last = 0, unseen = 0;
  const auto counts = read_kft(log, "log", [&](const KftCall& call) {
    CHECK(call.entry >= last);
    last = call.entry;
    if (!call.function.starts_with("f_")) return;
    if (call.exit_seen) {
      found.emplace(std::string(call.function), call.pid, call.entry, call.delta);
    } else {
      unseen++;
    }
  });
  REQUIRE(counts);
  CHECK(counts->other_lines == 0);
  CHECK(found == expected);
  CHECK(unseen < 50);
}

TEST_CASE("the head of KFT's log") {
  HitResults hits;
  const auto instrument = [&](const char* text, const char* action, std::uint64_t kept) {
    InstrumentResult& result = hits.instruments.emplace_back();
    result.text = text;
    result.action = action;
    result.has_calls = true;
    result.cpus = {{0, {kept, 3, {{"nested", 2}}}}};
  };
  instrument("fn:kernel_clone:entry do start", "start", 1);
  instrument("call:vfs_read if ret < 0 do stop", "stop", 1);
  instrument("call:* if duration >= 500us", "record", 7);
  hits.calls.emplace(HitResults::Calls{896, 0});
  RecordingBuilder b;
  b.section(FKT_SEC_INSTRUMENTS, hits.to_json());
  b.event(0, RecordingBuilder::kStart + 2'000'000, FKT_E_HIT, 0);
  b.event(0, RecordingBuilder::kStart + 5'000'000, FKT_E_HIT, 1);
  const Result<Recording> trace = Recording::from_bytes(b.finish());
  REQUIRE(trace);
  const KftEnds ends = find_kft_ends(*trace);
  REQUIRE(ends.begin);
  CHECK(ends.begin->clock == RecordingBuilder::kStart + 2'000'000);
  REQUIRE(ends.end);
  CHECK(ends.end->instrument == 1);
  const std::string head = kft_head(*trace, ends);
  CHECK(has(head, " usec by entry to function kernel_clone\n"));
  CHECK(has(head, " usec by exit from function vfs_read\n"));
  CHECK(has(head,
            "Filters:\n\tcall:* if duration >= 500us\n\nFilter Counters:\n"
            "Execution time filter count = 896\nOther filters count = 3\n"
            "Total entries filtered = 899\nEntries not found = 2\n"
            "Number of entries after filters = 7\n"));
  CHECK(looks_like_kft(head));
}

TEST_CASE("entries and exits of KFT's log are calls") {
  std::string log(kKftZeroIsShort);
  log +=
      "\n 10 entry 33 outer -\n 12 entry 33 inner outer\n 13 entry 34 inner -\n"
      " 13 entry 33i tick -\n 15 exit 33i tick -\n 17 exit 33 inner outer\n"
      " 18 entry 33 lost outer\n 20 exit 33 outer -\n 21 exit 33 never -\n 22 -2 33 deep down\n";
  std::vector<std::tuple<std::string, std::int64_t, std::uint64_t, bool, std::uint64_t>> found;
  const auto counts = read_kft(log, "log", [&](const KftCall& call) {
    found.emplace_back(call.function, call.pid, call.entry, call.exit_seen, call.delta);
  });
  REQUIRE(counts);
  CHECK(counts->calls == 6);
  CHECK(counts->other_lines == 0);
  REQUIRE(found.size() == 6);
  CHECK(found[0] == std::tuple("outer", 33, 10, true, 10));
  CHECK(found[1] == std::tuple("inner", 33, 12, true, 5));
  CHECK(found[2] == std::tuple("inner", 34, 13, false, 0));
  CHECK(found[3] == std::tuple("tick", 33, 13, true, 2));
  CHECK(found[4] == std::tuple("lost", 33, 18, false, 0));
  CHECK(found[5] == std::tuple("deep", 33, 22, false, 0));
}

TEST_CASE("a call of 0 us is one that was seen, where the log says so") {
  const auto seen = [](const std::string& head) {
    bool is_seen = false;
    const auto counts = read_kft(head + "1 0 33 deep down+0x5c\n", "log",
                                 [&](const KftCall& call) { is_seen = call.exit_seen; });
    REQUIRE(counts);
    return is_seen;
  };
  CHECK_FALSE(seen("Kernel Instrumentation Run ID 0\n"));
  CHECK(seen("Kernel Instrumentation Run ID 0\n" + std::string(kKftZeroIsShort) + "\n"));
}
