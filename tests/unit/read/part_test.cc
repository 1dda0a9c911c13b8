// SPDX-License-Identifier: GPL-2.0-only
// Tests a file that follows another one of the same recording: events lost before it do not count
// in it, and its time begins with its pages.
#include <catch2/catch.hpp>

#include "lib/read/event_merge.h"
#include "lib/timeline/density.h"
#include "tests/unit/recording_builder.h"

using namespace fkt;
using namespace fkt::test;

namespace {

// On CPU 0 ten events were lost before its third page, three of them before this file.
Bytes second_file(const char* part, RecordingBuilder::Tail tail) {
  RecordingBuilder b;
  if (part) b.section(FKT_SEC_PART, part);
  b.skip_pages(0, 2);
  b.lost(0, T + 5000, T + 6000, 10);
  b.event(0, T + 6100, FKT_E_SYS_ENTRY, 39).event(0, T + 6200, FKT_E_SYS_EXIT, 42);
  b.event(1, T + 5500, FKT_E_NMI);
  return b.finish(tail);
}

struct Read {
  std::uint64_t gap = 0;  // events lost according to its gaps
  Integrity integrity;
  RecordingInfo info;
};

Read read(const Bytes& file) {
  const Recording trace = std::move(*Recording::from_bytes(file));
  Read out;
  for (const Event& event : trace.events()) {
    if (event.id == FKT_W_LOST) out.gap += event.words[0];
  }
  out.integrity = trace.integrity();
  out.info = trace.info();
  PassControl control;
  const Density density(trace, 1, control);
  std::uint64_t lost = 0;
  for (const Gap& gap : density.gaps()) lost += gap.lost;
  CHECK(lost == out.gap);
  return out;
}

}  // namespace

TEST_CASE("losses before a file of several are not its own") {
  const Read part = read(
      second_file(R"({"number":3,"lost":[{"cpu":0,"lost":3}]})", RecordingBuilder::Tail::none));
  REQUIRE(part.info.part);
  CHECK(part.info.part->number == 3);
  CHECK(part.gap == 7);
  CHECK(part.integrity.lost == 7);
  CHECK(part.info.oldest == T + 5500);
  CHECK(part.info.tasks_of_end);
  CHECK(part.info.lost_before(0) == 3);
  CHECK(part.info.lost_before(1) == 0);
  CHECK(part.integrity.missing_pages == 0);
}

TEST_CASE("a file that is none of several begins with its recording") {
  const Read whole = read(second_file(nullptr, RecordingBuilder::Tail::none));
  CHECK_FALSE(whole.info.part);
  CHECK(whole.integrity.lost == 10);
  CHECK(whole.info.oldest == 0);
  CHECK_FALSE(whole.info.lost_before(0));
}

TEST_CASE("what a file says of those before it may be nonsense") {
  for (const char* text : {"{}", R"({"number":"x","lost":7})", R"({"lost":[1,{"cpu":-1}]})"}) {
    CHECK(read(second_file(text, RecordingBuilder::Tail::none)).info.part);
  }
  const Read none = read(second_file("no JSON", RecordingBuilder::Tail::none));
  CHECK_FALSE(none.info.part);
  CHECK(none.integrity.notes.size() >= 1);
}
