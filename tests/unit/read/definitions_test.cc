// SPDX-License-Identifier: GPL-2.0-only
// Tests definitions that are written while recording (event DEFINE): each kind of file decodes to
// the same output as a file whose initial catalogue already has these lines.
#include <catch2/catch.hpp>

#include <fkt/call_event.h>

#include "lib/scan/scan.h"
#include "tests/unit/analyzed.h"
#include "tests/unit/everything_said.h"
#include "tests/unit/slices.h"

using namespace fkt;
using namespace fkt::test;

namespace {

constexpr const char* kFirst = "name\tfunction\t3\tvfs_read\n";
constexpr const char* kSecond =
    "name\tfunction\t4\text4_read\nvalues\tfunction\t4\t4\tcount:u:1:0:64\n"
    "name\ttracepoint\t5000\tblock_rq_issue\n";
const std::string kAll = std::string(kFirst) + kSecond;

enum class Where { stream, catalogue };

// Calls and tracepoints on two CPUs. The definitions stand on the second CPU, the second ones
// behind the first events that need them; if the catalogue has them, others stand there that
// nothing needs.
RecordingBuilder recording(Where where) {
  RecordingBuilder b;
  const bool stream = where == Where::stream;
  if (!stream) b.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + kAll);
  b.pid(0, 42).pid(1, 43);
  b.define(1, T + 10, stream ? kFirst : "name\tother\t3\tx\n");
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 190, FKT_E_CALL, 3, {fkt_call_word(T + 110, 70)});
  b.event(0, T + 200, FKT_E_SYS_EXIT, 0);
  const auto values = [&](std::uint64_t written, std::uint64_t begin, std::uint64_t count) {
    b.event(0, T + written, FKT_E_CALL_VALUES, 3, {fkt_call_values_word(4, 50), T + begin, count});
  };
  values(300, 240, 4096);
  b.event(1, T + 310, FKT_E_POINT_VALUES, 5000 << FKT_VAR_BITS);
  b.close_page(0);
  b.define(1, T + 320, stream ? kSecond : "name\tother\t4\ty\n");
  b.close_page(1);
  values(400, 340, 512);
  b.event(1, T + 410, FKT_E_SYS_ENTRY, 1).event(1, T + 500, FKT_E_SYS_EXIT, 7);
  return b;
}

// What all engines say of a recording, without the events that define.
struct EngineResults {
  std::string lines, sums, sums_of_scan;
  std::vector<std::string> notes;
};

std::string without_defines(const std::string& dump) {
  std::string kept;
  for (std::string_view rest = dump; !rest.empty();) {
    const std::string_view line = take_until(rest, '\n');
    if (line.find("define lines=") == std::string_view::npos) kept += std::string(line) + '\n';
  }
  return kept;
}

EngineResults said(const Bytes& file) {
  EngineResults said;
  said.lines = without_defines(Analyzed(file).dump());
  const Recording trace = opened(file);
  for (const bool fast : {false, true}) {
    Analysis analysis(trace.info(), {});
    if (fast) {
      scan(trace, analysis, {.threads = 2});
    } else {
      for (const Event& event : trace.events()) analysis.add(event);
    }
    analysis.finish(true, recording_end(trace));
    (fast ? said.sums_of_scan : said.sums) = everything_said(trace, analysis);
  }
  said.notes = trace.integrity().notes;
  return said;
}

const std::string& expected_lines() {
  static const std::string lines = said(recording(Where::catalogue).finish()).lines;
  return lines;
}

void check(const Bytes& file) {
  const EngineResults found = said(file);
  CHECK(found.lines == expected_lines());
  CHECK(found.sums == found.sums_of_scan);
}

// Changes a byte in the payload of the section of this type.
void damage_section(Bytes& file, std::uint32_t type, std::uint64_t from) {
  for (std::uint64_t at = from; at + sizeof(fkt_section_header) < file.size(); at += 8) {
    const auto header = RecordingBuilder::get<fkt_section_header>(file, at);
    if (header.magic != FKT_SECTION_MAGIC || header.type != type) continue;
    file[at + sizeof header + 2] ^= std::byte{1};
    return;
  }
  FAIL("there is no such section");
}

}  // namespace

TEST_CASE("names and values that are defined in the stream are those of the catalogue") {
  const std::string& lines = expected_lines();
  CHECK(lines.find("vfs_read") != std::string::npos);
  CHECK(lines.find("ext4_read") != std::string::npos);
  CHECK(lines.find("count=4096") != std::string::npos);
  check(recording(Where::stream).section(FKT_SEC_DEFINITIONS_END, kAll).finish());
}

TEST_CASE("files without a tail decode by the events alone") {
  check(recording(Where::stream).finish(RecordingBuilder::Tail::none));
  check(recording(Where::stream).in_groups(2).finish(RecordingBuilder::Tail::none));
}

TEST_CASE("a stream decodes by its tail, and without the tail's definitions by its events") {
  check(recording(Where::stream)
            .section(FKT_SEC_DEFINITIONS_END, kAll)
            .finish(RecordingBuilder::Tail::stream));
  RecordingBuilder b = recording(Where::stream).section(FKT_SEC_DEFINITIONS_END, kAll);
  Bytes file = b.finish(RecordingBuilder::Tail::stream);
  file.resize(b.tail_offset());
  check(file);
}

TEST_CASE("definitions that cannot be read in the tail are read from the events") {
  for (const bool packed : {false, true}) {
    RecordingBuilder b = recording(Where::stream).section(FKT_SEC_DEFINITIONS_END, kAll);
    if (packed) b.in_groups(2);
    Bytes file = b.finish();
    damage_section(file, FKT_SEC_DEFINITIONS_END, b.tail_offset());
    check(file);
    CHECK(said(file).notes.size() == 1);
  }
}

TEST_CASE("a later part or snapshot has in its head what was defined before it") {
  // Its pages do not have the definitions: those of a flight recorder were overwritten.
  for (const auto tail : {RecordingBuilder::Tail::none, RecordingBuilder::Tail::finished}) {
    RecordingBuilder b = recording(Where::catalogue);
    b.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines());
    check(b.section(FKT_SEC_DEFINITIONS, kAll).finish(tail));
  }
  // One was known, and one comes in its pages; the tail has both.
  check(recording(Where::stream)
            .section(FKT_SEC_DEFINITIONS, kFirst)
            .finish(RecordingBuilder::Tail::none));
  check(recording(Where::stream)
            .section(FKT_SEC_DEFINITIONS, kFirst)
            .section(FKT_SEC_DEFINITIONS_END, kAll)
            .finish());
}

TEST_CASE("a slice has all definitions of its recording") {
  for (const auto tail : {RecordingBuilder::Tail::none, RecordingBuilder::Tail::finished}) {
    RecordingBuilder b = recording(Where::stream);
    if (tail == RecordingBuilder::Tail::finished) b.section(FKT_SEC_DEFINITIONS_END, kAll);
    const Bytes file = b.finish(tail);
    // Behind the pages with the definitions.
    Selection selection;
    selection.from = T + 340;
    selection.to = T + 450;
    const std::string whole = Analyzed(file, selection).dump();
    const Bytes slice = slice_of(file, *selection.from, *selection.to);
    CHECK(Analyzed(slice).dump() == whole);
    CHECK(whole.find("ext4_read") != std::string::npos);
    CHECK(opened(slice).info().definitions.lines() == opened(file).info().definitions.lines());
    // A slice of the slice, which has lost its tail.
    Bytes cut = slice_of(slice, T + 360, *selection.to);
    CHECK(Analyzed(cut).dump().find("ext4_read") != std::string::npos);
    CHECK(opened(cut).info().definitions.lines().size() == kAll.size());
  }
}

TEST_CASE("a damaged page with definitions is damage, and costs the names in it alone") {
  RecordingBuilder b = recording(Where::stream);
  Bytes file = b.finish(RecordingBuilder::Tail::none);
  const Recording whole = opened(file);
  for (const PageRef& page : whole.pages()) {
    if (page.cpu == 1 && page.seq == 0) {
      file[page.offset + sizeof(fkt_page_header) + 1] ^= std::byte{1};
    }
  }
  const Analyzed damaged(file);
  CHECK(damaged.dump().find("vfs_read") == std::string::npos);
  CHECK(opened(file).info().definitions.empty());
  CHECK(damaged.summary().missing.empty() == false);
}

TEST_CASE("definitions that make no sense, or contradict others, are left out and noted") {
  const std::string bad[] = {"name\tfunction\tx\ty\n", "values\tfunction\t2\t4\tother:u:1:0:64\n",
                             "event\t500\tcall\t0\tpoint\t0\t\n",
                             "values\tfunction\t9\t8\tx:u:1:0:64\n"};
  for (const std::string& line : bad) {
    INFO(line);
    const Bytes file =
        recording(Where::stream).section(FKT_SEC_DEFINITIONS_END, kAll + line).finish();
    check(file);
    const EngineResults found = said(file);
    REQUIRE(found.notes.size() == 1);
    CHECK(found.notes[0] == "definition 5 of the recording makes no sense");
  }
}

TEST_CASE("a line that is defined again has no effect") {
  Definitions definitions;
  CHECK(definitions.add(kFirst) == kFirst);
  CHECK(definitions.add(kAll) == kSecond);
  CHECK(definitions.add(kAll + "\n\n").empty());
  CHECK(definitions.lines() == kAll);
  // An event at a page's end may have been cut in the middle of a line.
  CHECK(definitions.add("name\tfunc") == "name\tfunc\n");
}
