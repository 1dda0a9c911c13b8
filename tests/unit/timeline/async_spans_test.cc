// SPDX-License-Identifier: GPL-2.0-only
// Tests asynchronous spans: the events that begin and end them, and causes that may hide an end.
#include <catch2/catch.hpp>

#include <fkt/point_hit.h>

#include <algorithm>
#include <string>

#include "lib/timeline/lanes.h"
#include "lib/timeline/timeline.h"
#include "tests/unit/analyzed.h"
#include "tests/unit/texts.h"

using namespace fkt;
using namespace fkt::test;

namespace {

constexpr const char* kLines =
    "name\ttracepoint\t3\tblock_rq_issue\nname\ttracepoint\t4\tblock_rq_complete\n"
    "name\tdev\t266338304\tvda\n"
    "values\ttracepoint\t3\t4\trq:x:1:0:64 dev:dev:2:0:64\n"
    "async\ttracepoint\t3\t3\tbegin\trequest\trq\tdev\n"
    "async\ttracepoint\t4\t4\tend\trequest\trq\tdev\n";
constexpr std::uint64_t kVda = 254 << 20;

class Requests : public RecordingBuilder {
 public:
  Requests() {
    section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + kLines);
    pid(0, 42).pid(1, 43);
  }
  Requests& issue(std::uint32_t cpu, std::uint64_t at, std::uint64_t rq, std::uint64_t dev = kVda) {
    event(cpu, at, FKT_E_POINT_VALUES, FKT_POINT_ARG(3, 2), {rq, dev});
    return *this;
  }
  Requests& complete(std::uint32_t cpu, std::uint64_t at, std::uint64_t rq) {
    event(cpu, at, FKT_E_POINT_VALUES, FKT_POINT_ARG(4, 2), {rq, kVda});
    return *this;
  }
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) found++;
  return found;
}

// The lanes of asynchronous spans of the whole recording.
struct Drawn {
  explicit Drawn(RecordingBuilder& builder)
      : trace(*Recording::from_bytes(builder.finish())), timeline(trace) {
    PassControl control;
    timeline.read(control);
    Lanes all({timeline.begin(), timeline.end(), 100'000}, timeline.tasks());
    timeline.follow(timeline.begin(), timeline.end(), all);
    for (Lane& lane : all.take().lanes) {
      if (lane.of.kind == LaneKind::async) lanes.push_back(std::move(lane));
    }
  }
  std::string name(std::size_t lane) const { return timeline.types()[lanes[lane].of.id].name; }

  Recording trace;
  Timeline timeline;
  std::vector<Lane> lanes;
};

}  // namespace

TEST_CASE("a request's end is shown with how long the device had it") {
  Requests b;
  b.issue(0, T + 100, 0xa)
      .issue(1, T + 120, 0xb)
      .complete(0, T + 150, 0xb)
      .complete(1, T + 400, 0xa);
  const Analyzed a(b);
  CHECK(has(a.dump(), "block_rq_complete rq=0xb, dev=vda (request vda took 30)\n"));
  CHECK(has(a.dump(), "block_rq_complete rq=0xa, dev=vda (request vda took 300)\n"));
  CHECK(has(a.json_dump(), R"("span":"request vda","took":300})"));
  CHECK(count(a.dump(), "took") == 2);
}

TEST_CASE("an end without a begin, and a begin without an end, have no duration") {
  Requests b;
  b.complete(0, T + 100, 0xa)
      .issue(0, T + 200, 0xb)
      .issue(1, T + 300, 0xb)
      .complete(1, T + 350, 0xb);
  const Analyzed a(b);
  CHECK(count(a.dump(), "took") == 1);
  CHECK(has(a.dump(), "(request vda took 50)"));
}

TEST_CASE("what may hide an end ends no request") {
  SECTION("lost events of any CPU") {
    Requests b;
    b.issue(0, T + 100, 0xa).lost(1, T + 200, T + 300, 7);
    b.complete(0, T + 400, 0xa);
    CHECK(count(Analyzed(b).dump(), "took") == 0);
  }
  SECTION("a request that was begun while events were lost") {
    Requests b;
    b.lost(1, T + 200, T + 300, 7);
    b.issue(0, T + 250, 0xa).complete(0, T + 400, 0xa);
    CHECK(count(Analyzed(b).dump(), "took") == 0);
  }
  SECTION("a change of the layers") {
    Requests b;
    b.issue(0, T + 100, 0xa);
    b.event(1, T + 200, FKT_E_MASK, 0, {1});
    b.complete(0, T + 400, 0xa);
    CHECK(count(Analyzed(b).dump(), "took") == 0);
  }
}

TEST_CASE("requests have a lane for each device, and a row for each that is in progress") {
  Requests b;
  b.issue(0, T + 1000, 0xa).issue(0, T + 1200, 0xb).issue(1, T + 1300, 0xc, 8 << 20);
  b.complete(1, T + 1500, 0xa).issue(0, T + 1600, 0xd).complete(0, T + 1700, 0xb);
  b.complete(0, T + 1800, 0xd);
  Drawn drawn(b);
  REQUIRE(drawn.lanes.size() == 2);
  const std::size_t vda = drawn.name(0) == "request vda" ? 0 : 1;
  CHECK(drawn.name(vda) == "request vda");
  CHECK(drawn.name(1 - vda) == "request 8:0");
  const std::vector<LaneCell>& cells = drawn.lanes[vda].cells;
  REQUIRE(cells.size() == 3);
  const auto cell = [&](std::uint64_t from) {
    const auto found = std::ranges::find(cells, T + from, &LaneCell::from);
    REQUIRE(found != cells.end());
    return *found;
  };
  CHECK(cell(1000).to == T + 1500);
  CHECK(cell(1000).depth == 0);
  CHECK(cell(1000).kind == SliceKind::async);
  CHECK(drawn.timeline.tasks()[cell(1000).value].tid == 42);
  CHECK(cell(1200).to == T + 1700);
  CHECK(cell(1200).depth == 1);
  CHECK(cell(1600).depth == 0);  // the row of 0xa is free again
  CHECK(cell(1600).ended);
  const std::vector<LaneCell>& open = drawn.lanes[1 - vda].cells;
  REQUIRE(open.size() == 1);
  CHECK_FALSE(open[0].ended);
}

TEST_CASE("from any moment on, requests are drawn as in the whole") {
  Requests b;
  for (std::uint64_t i = 0; i < 5000; i++) {
    b.issue(i % 2, T + 1000 + i * 100, 0x1000 + i % 7);
    if (i >= 3) b.complete(1 - i % 2, T + 1050 + i * 100, 0x1000 + (i - 3) % 7);
  }
  Drawn drawn(b);
  for (const std::uint64_t at : {T + 1010, T + 100'020, T + 400'030}) {
    Lanes part({at, at + 1000, 1000}, drawn.timeline.tasks());
    drawn.timeline.follow(at, at + 1000, part);
    std::size_t compared = 0;
    for (const Lane& lane : part.take().lanes) {
      if (lane.of.kind != LaneKind::async) continue;
      for (const LaneCell& cell : lane.cells) {
        const auto same = [&](const LaneCell& whole) {
          return whole.from == cell.from && whole.depth == cell.depth && whole.value == cell.value;
        };
        CHECK(std::ranges::any_of(drawn.lanes[0].cells, same));
        compared++;
      }
    }
    CHECK(compared > 10);  // one begins every 100 ticks
  }
}

TEST_CASE("more requests in progress than rows are followed all the same") {
  Requests b;
  for (std::uint64_t i = 0; i < 100; i++) b.issue(0, T + 1000 + i, 0x1000 + i);
  for (std::uint64_t i = 0; i < 100; i++) b.complete(0, T + 2000 + i, 0x1000 + i);
  CHECK(count(Analyzed(b).dump(), "(request vda took 1000)") == 100);
  Drawn drawn(b);
  REQUIRE(drawn.lanes.size() == 1);
  CHECK(drawn.lanes[0].cells.size() == AsyncSpan::kRows);
}
