// SPDX-License-Identifier: GPL-2.0-only
// Tests the counts of instruments' hits in a recording: the section, the reports, slices, damage.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <limits>

#include <fkt/ioctl.h>

#include "lib/format/hit_results.h"
#include "lib/report/hit_report.h"
#include "tests/unit/slices.h"

using namespace fkt;
using namespace fkt::test;

namespace {

Hits hits(std::uint64_t kept, std::uint64_t dropped, std::map<std::string, std::uint64_t> missed) {
  return {.kept = kept, .dropped = dropped, .missed = std::move(missed)};
}

// A counter on two CPUs, a histogram by task, a layer's instrument.
HitResults some_results() {
  InstrumentResult counter{.text = "call:vfs_* do count",
                           .action = "count",
                           .layer = 32,
                           .places = 12,
                           .of = "function",
                           .has_calls = true,
                           .is_removed = false,
                           .cpus = {{0, hits(1000, 5, {{"nested", 2}})},
                                    {3, hits(345, 1, {{"nested", 1}, {"stale", 4}})}},
                           .histogram = {}};
  InstrumentResult histogram{.text = "tp:signal:signal_generate do histogram(sig, by task)",
                             .action = "histogram",
                             .layer = 32,
                             .places = 1,
                             .of = "tracepoint",
                             .has_calls = false,
                             .is_removed = true,
                             .cpus = {{0, hits(7, 0, {})}},
                             .histogram = {}};
  histogram.histogram =
      HitHistogram{.value = "sig",
                   .unit = "",
                   .key = "task",
                   .width = 0,
                   .rows = {{"perl", 50, {{1, 1}, {5, 4}}}, {"a\tb\x01", -2, {{0, 2}}}}};
  InstrumentResult layers = counter;
  layers.text = "tp:block:block_rq_issue";
  layers.action = "record";
  layers.layer = 11;
  layers.cpus = {{0, hits(3, 0, {})}};
  return {.instruments = {counter, histogram, layers}, .calls = HitResults::Calls{77, 1}};
}

RecordingBuilder recording(const std::string& section) {
  RecordingBuilder b;
  b.pid(0, 42).event(0, T, FKT_E_SYS_ENTRY, 39).event(0, T + 100, FKT_E_SYS_EXIT, 1);
  b.section(FKT_SEC_INSTRUMENTS, section);
  return b;
}

std::string report_of(const HitResults& results) {
  TextWriter out;
  write_hits(out, results);
  return std::string(out.view());
}

}  // namespace

TEST_CASE("a recording says what its instruments have counted") {
  const HitResults results = some_results();
  RecordingBuilder b = recording(results.to_json());
  const Result<Recording> trace = Recording::from_bytes(b.finish());
  REQUIRE(trace);
  REQUIRE(trace->info().hits);
  CHECK(trace->info().hits->to_json() == results.to_json());
  CHECK(report_of(*trace->info().hits) == report_of(results));
}

TEST_CASE("the report says what tracing has added to the durations of calls") {
  HitResults results = some_results();
  results.calls->inside_ns = 12;
  results.calls->total_ns = 26;
  RecordingBuilder b = recording(results.to_json());
  const Result<Recording> trace = Recording::from_bytes(b.finish());
  REQUIRE(trace);
  REQUIRE(trace->info().hits);
  CHECK(trace->info().hits->to_json() == results.to_json());
  CHECK_THAT(
      report_of(*trace->info().hits),
      Catch::Matchers::EndsWith("\nDurations of calls are not corrected: tracing took at least "
                                "12 ns of a call's own time, and 26 ns of its caller's\n"));
}

TEST_CASE("the report says how many calls were of functions that others trace, too") {
  HitResults results;
  results.calls.emplace(HitResults::Calls{}).shared = 1234;
  RecordingBuilder b = recording(results.to_json());
  const Result<Recording> trace = Recording::from_bytes(b.finish());
  REQUIRE(trace);
  REQUIRE(trace->info().hits);
  CHECK(report_of(*trace->info().hits) ==
        "\n1234 calls of functions that others trace by ftrace, too: what these tracers call "
        "themselves is not seen\n");
}

TEST_CASE("a recording without instruments says nothing of hits") {
  RecordingBuilder b = recording("");
  const Analyzed read(b);
  CHECK(read.report().find("Instruments") == std::string::npos);
  CHECK(read.json().find("\"instruments\"") == std::string::npos);
}

TEST_CASE("a report of hits has a line for each instrument, and the histograms") {
  CHECK(report_of(some_results()) ==
        "\nInstruments: what became of their hits, in the whole recording\n"
        "call:vfs_* do count: 12 functions, 1,345 calls counted, 6 dropped by its condition, 7 "
        "missed (3 too many at once on a CPU, 4 began before the recording or the instrument)\n"
        "tp:signal:signal_generate do histogram(sig, by task): removed, 7 hits counted, 0 dropped "
        "by its condition, 0 missed\n"
        "  task=perl: 5 hits, sig on average 10.0\n"
        "                                   0          1 ##########\n"
        "                             8 to 15          4 "
        "########################################\n"
        "  task=a\\x09b\\x01: 2 hits, sig on average -1.0\n"
        "                             below 0          2 "
        "########################################\n"
        "Not seen: 1 call that BPF programs at entries, or a live patch, had taken\n");
  CHECK(hits_by_cpu_line(some_results().instruments[0]) ==
        "  CPU 0: 1,000 kept, 5 dropped, 2 missed; CPU 3: 345 kept, 1 dropped, 5 missed");
}

TEST_CASE("durations of a histogram stand in the units that suit them") {
  HitResults results;
  InstrumentResult& fsync = results.instruments.emplace_back();
  fsync.text = "call:vfs_fsync_range do histogram(duration)";
  fsync.action = "histogram";
  fsync.of = "function";
  HitHistogram& times = fsync.histogram.emplace();
  times.value = "duration";
  times.unit = "ns";
  times.rows.push_back({"", 28'897'574, {{25, 2}}});
  const std::string report = report_of(results);
  CHECK(report.find("2 hits, duration on average 14.4 ms\n") != std::string::npos);
  CHECK(report.find(" 8.39 ms to 16.8 ms ") != std::string::npos);
}

TEST_CASE("an instrument of a layer is in the report if it has missed something") {
  HitResults results = some_results();
  results.instruments.erase(results.instruments.begin(), results.instruments.begin() + 2);
  results.calls->taken = 0;
  CHECK(report_of(results).empty());
  results.instruments[0].cpus[0].hits.missed["of tomorrow"] = 1;
  CHECK(report_of(results).find("1 missed (1 of tomorrow)") != std::string::npos);
}

TEST_CASE("buckets of histograms have the ranges that the module counts in") {
  HitHistogram powers, equal;
  equal.width = 10;
  CHECK(!powers.range(0).from);
  CHECK(powers.range(1).from == 0);
  CHECK(powers.range(1).to == 0);
  CHECK(powers.range(2).from == 1);
  CHECK(powers.range(2).to == 1);
  CHECK(powers.range(13).from == 2048);
  CHECK(powers.range(13).to == 4095);
  CHECK(powers.range(65).to == std::numeric_limits<std::uint64_t>::max());
  CHECK(!equal.range(0).from);
  CHECK(equal.range(1).from == 0);
  CHECK(equal.range(1).to == 9);
  CHECK(equal.range(65).from == 640);
  CHECK(!equal.range(65).to);
}

TEST_CASE("JSON and CSV have all instruments with their CPUs, reasons and buckets") {
  const HitResults results = some_results();
  RecordingBuilder b = recording(results.to_json());
  const nlohmann::json json = nlohmann::json::parse(Analyzed(b).json());
  const nlohmann::json& list = json.at("instruments");
  REQUIRE(list.size() == 3);
  CHECK(list[0].at("kept") == 1345);
  CHECK(list[0].at("missed") == 7);
  CHECK(!list[0].contains("rows"));
  CHECK(list[0].at("cpus")[1].at("cpu") == 3);
  CHECK(list[0].at("cpus")[1].at("reasons")[1].at("reason") == "stale");
  CHECK(list[1].at("removed") == true);
  CHECK(list[1].at("rows")[0].at("key") == "perl");
  CHECK(list[1].at("rows")[0].at("buckets")[1].at("from") == 8);
  CHECK(list[1].at("rows")[0].at("buckets")[1].at("hits") == 4);
  CHECK(list[1].at("rows")[1].at("buckets")[0].at("from").is_null());

  TextWriter out;
  write_hits_csv(out, results, TimeFormat());
  const std::string csv(out.view());
  CHECK(csv.find("instruments,1,call:vfs_* do count,count,32,function,12,false,1345,6,7,,,\r\n") !=
        std::string::npos);
  CHECK(csv.find("instrument_cpus,1,3,345,1,5\r\n") != std::string::npos);
  CHECK(csv.find("instrument_missed,1,3,stale,4\r\n") != std::string::npos);
  CHECK(csv.find("instrument_buckets,2,perl,8,15,4\r\n") != std::string::npos);
}

TEST_CASE("a slice keeps what the instruments of the whole recording have counted") {
  RecordingBuilder b = recording(some_results().to_json());
  const Bytes slice = slice_of(b.finish(), T + 10, T + 50);
  const Result<Recording> trace = Recording::from_bytes(slice);
  REQUIRE(trace);
  REQUIRE(trace->info().hits);
  CHECK(trace->info().hits->to_json() == some_results().to_json());
}

TEST_CASE("a section of hits that makes no sense is damage, or has nothing of what is wrong") {
  {
    RecordingBuilder b = recording("[1, 2]");
    const Analyzed read(b);
    CHECK(!read.summary().missing.empty());
  }
  for (const char* const json :
       {"{}", R"({"instruments":7})", R"({"instruments":[7,{"text":1,"cpus":[1],"histogram":[]}]})",
        R"({"instruments":[{"cpus":[{"cpu":-1,"kept":"x","missed":{"a":-1,"b":[]}}],"histogram":
           {"rows":[{"sum":1e9,"counts":[[66,1],[1,-1],[1],7,[99999999999,1]]}]}}],"taken":null})"}) {
    RecordingBuilder b = recording(json);
    const Analyzed read(b);
    CHECK(read.summary().missing.empty());
    CHECK(read.report().find("hits on average") == std::string::npos);
    CHECK(nlohmann::json::accept(read.json()));
  }
}
