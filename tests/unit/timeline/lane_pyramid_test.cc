// SPDX-License-Identifier: GPL-2.0-only
// Compares levels of detail with exact pictures of the same intervals.
#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <span>

#include "lib/timeline/lane_pyramid.h"
#include "lib/timeline/timeline.h"
#include "tests/unit/busy_recording.h"
#include "tests/unit/how_many.h"
#include "tests/unit/random_recording.h"

using namespace fkt;
using namespace fkt::test;

namespace {

struct Levelled {
  Recording trace;
  Timeline timeline;
  LanePyramid levels;
  // Pretends that the recording has `events` events: the more, the finer the levels.
  Levelled(const Bytes& file, std::uint64_t events, std::uint64_t most = LanePyramid::kMostCells)
      : trace(std::move(*Recording::from_bytes(file))),
        timeline(trace),
        levels(timeline.begin(), timeline.end(), events, timeline.longest_burst(), timeline.tasks(),
               most) {
    PassControl control;
    timeline.read(control, &levels);
    levels.finish();
  }
  std::vector<Lane> exact(const TimeScale& scale) const {
    Lanes lanes(scale, timeline.tasks());
    timeline.follow(scale.from, std::min(scale.to, timeline.end()), lanes);
    return lanes.take().lanes;
  }
  // A scale whose columns are buckets of a level, beginning with bucket `first`.
  TimeScale buckets(std::uint64_t width, std::uint64_t first, std::uint64_t count) const {
    const std::uint64_t from = timeline.begin() + first * width;
    return {from, from + count * width, static_cast<std::uint32_t>(count)};
  }
};

struct Sum {
  std::uint64_t count = 0, busy = 0;
  bool operator==(const Sum&) const = default;
};
using Sums = std::map<std::pair<std::uint32_t, unsigned>, Sum>;

Sums sums(const std::vector<Lane>& lanes) {
  Sums sums;
  for (const Lane& lane : lanes) {
    for (const LaneCell& cell : lane.cells) {
      Sum& sum = sums[{lane.of.packed(), cell.depth}];
      sum.count += cell.count;
      sum.busy += cell.busy;
    }
  }
  return sums;
}

bool same(const LaneCell& a, const LaneCell& b) {
  return a.kind == b.kind && a.depth == b.depth && a.begun == b.begun && a.ended == b.ended &&
         a.count == b.count && a.value == b.value && a.in == b.in && a.cpu == b.cpu &&
         a.from == b.from && a.to == b.to && a.busy == b.busy;
}

Bytes recording(unsigned seed, unsigned events) {
  return RandomRecording(seed, 3, events).finish();
}

// Passes everything on to levels of its own. in_groups: also slices in groups.
class Passing : public StateObserver {
 public:
  Passing(const Timeline& timeline, std::uint64_t events, bool in_groups)
      : levels(timeline.begin(), timeline.end(), events, timeline.longest_burst(),
               timeline.tasks()),
        in_groups_(in_groups) {}
  bool wants_events() const override { return false; }
  Buckets buckets() const override { return in_groups_ ? levels.buckets() : Buckets(); }
  void slice(const Slice& slice) override {
    levels.slice(slice);
    single++;
  }
  void slices(const SliceGroup& group) override {
    levels.slices(group);
    grouped += group.count;
  }

  LanePyramid levels;
  std::uint64_t single = 0, grouped = 0;

 private:
  const bool in_groups_;
};

struct Passed {
  Recording trace;
  Timeline timeline;
  Passing passing;
  Passed(const Bytes& file, std::uint64_t events, bool in_groups)
      : trace(std::move(*Recording::from_bytes(file))),
        timeline(trace),
        passing(timeline, events, in_groups) {
    PassControl control;
    timeline.read(control, &passing);
    passing.levels.finish();
  }
};

}  // namespace

TEST_CASE("slices that come in groups give the same cells") {
  for (unsigned seed = 0; seed < recordings(12); seed++) {
    INFO("seed " << seed);
    const Bytes file = BusyRecording(seed, 1 + seed % 5, 6000).finish();
    const std::uint64_t events = 200U << seed;
    const Passed one(file, events, false), groups(file, events, true);
    CHECK(one.passing.grouped == 0);
    if (seed < 6) CHECK(groups.passing.grouped > groups.passing.single / 8);
    CHECK(groups.passing.single + groups.passing.grouped == one.passing.single);
    for (std::uint32_t cells = 4000; cells > 1; cells /= 3) {
      const TimeScale scale{one.timeline.begin(), one.timeline.end(), cells};
      const std::vector<Lane> wanted = one.passing.levels.lanes(scale).lanes;
      const std::vector<Lane> got = groups.passing.levels.lanes(scale).lanes;
      REQUIRE(got.size() == wanted.size());
      REQUIRE_FALSE(got.empty());
      for (std::size_t lane = 0; lane < got.size(); lane++) {
        REQUIRE(got[lane].of == wanted[lane].of);
        CHECK(got[lane].active == wanted[lane].active);
        CHECK(std::ranges::equal(got[lane].cells, wanted[lane].cells,
                                 [](const auto& a, const auto& b) { return same(a, b); }));
      }
    }
  }
}

TEST_CASE("a level's buckets hold what an exact picture with those columns shows") {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const Levelled read(recording(seed, 20'000), 20'000);
    const std::uint64_t span = read.timeline.end() - read.timeline.begin();
    std::set<std::uint64_t> widths;
    for (std::uint32_t cells = 1; cells < 4000; cells *= 2) {
      widths.insert(read.levels.bucket({read.timeline.begin(), read.timeline.end(), cells}));
    }
    REQUIRE(widths.size() >= 1);
    for (const std::uint64_t width : widths) {
      const TimeScale whole = read.buckets(width, 0, span / width + 1);
      REQUIRE(read.levels.bucket(whole) == width);
      const std::vector<Lane> wanted = read.exact(whole), got = read.levels.lanes(whole).lanes;
      REQUIRE(got.size() == wanted.size());
      CHECK(sums(got) == sums(wanted));
      std::size_t alike = 0, all = 0;
      for (std::size_t lane = 0; lane < got.size(); lane++) {
        REQUIRE(got[lane].of == wanted[lane].of);
        if (got[lane].of.kind == LaneKind::task) CHECK(got[lane].active == wanted[lane].active);
        for (const LaneCell& cell : got[lane].cells) {
          all++;
          alike += std::ranges::any_of(wanted[lane].cells,
                                       [&](const LaneCell& other) { return same(cell, other); });
        }
      }
      INFO(alike << " of " << all);
      CHECK(all > 0);
      CHECK(alike == all);
    }
  }
}

TEST_CASE("the lanes that are wished for are the first of all of them") {
  const Levelled read(recording(9, 20'000), 20'000);
  const TimeScale whole{read.timeline.begin(), read.timeline.end(), 50};
  const LanePicture all = read.levels.lanes(whole);
  REQUIRE(all.tasks > 3);
  const std::size_t cpus = all.lanes.size() - all.tasks;
  const auto ids = [](std::span<const Lane> lanes) {
    std::vector<LaneId> found;
    for (const Lane& lane : lanes) found.push_back(lane.of);
    return found;
  };
  for (const std::uint64_t most : {0, 1, 3}) {
    const LanePicture few = read.levels.lanes(whole, {.most = most, .wanted = {}});
    CHECK(few.tasks == all.tasks);
    CHECK(ids(few.lanes) == ids(std::span(all.lanes).first(cpus + most)));
    CHECK(sums(few.lanes) == sums({all.lanes.begin(), all.lanes.begin() + cpus + most}));
  }
  const TaskIndex last = all.lanes.back().of.id;
  const LanePicture one = read.levels.lanes(
      whole, {.most = 10, .wanted = [&](TaskIndex task) { return task == last; }});
  CHECK(one.tasks == 1);
  REQUIRE(one.lanes.size() == cpus + 1);
  CHECK(one.lanes.back().of.id == last);
}

TEST_CASE("a part of a level shows that part") {
  const Levelled read(recording(7, 20'000), 20'000);
  const std::uint64_t width =
      read.levels.bucket({read.timeline.begin(), read.timeline.end(), 4000});
  const std::uint64_t count = (read.timeline.end() - read.timeline.begin()) / width;
  for (const std::uint64_t first : {std::uint64_t{0}, count / 3, count - 40}) {
    const TimeScale part = read.buckets(width, first, 40);
    const std::vector<Lane> wanted = read.exact(part), got = read.levels.lanes(part).lanes;
    // The exact picture cuts cells at its edges, so only cells inside must be equal.
    const auto inside = [&](const LaneCell& cell) {
      return cell.from >= part.from + width && cell.to < part.to - width;
    };
    std::size_t cells = 0;
    for (const Lane& lane : wanted) {
      const auto mine =
          std::ranges::find_if(got, [&](const Lane& other) { return other.of == lane.of; });
      REQUIRE(mine != got.end());
      for (const LaneCell& cell : lane.cells) {
        if (!inside(cell)) continue;
        cells++;
        CHECK(std::ranges::any_of(mine->cells,
                                  [&](const LaneCell& other) { return same(cell, other); }));
      }
    }
    CHECK(cells > 40);
  }
}

TEST_CASE("levels take no more room than they may, and lose nothing then") {
  const Bytes file = recording(5, 50'000);
  const Levelled free(file, 4'000'000), bound(file, 4'000'000, 20'000);
  CHECK(free.levels.cells() > 30'000);
  CHECK(bound.levels.cells() <= 20'000);
  const TimeScale fine{free.timeline.begin(), free.timeline.end(), 100'000};
  CHECK(bound.levels.bucket(fine) > free.levels.bucket(fine));
  CHECK(sums(bound.levels.lanes(fine).lanes) == sums(free.levels.lanes(fine).lanes));
  const TimeScale coarse{fine.from, fine.to, 300};
  CHECK(bound.levels.bucket(coarse) == free.levels.bucket(coarse));
  CHECK(sums(bound.levels.lanes(coarse).lanes) == sums(free.levels.lanes(coarse).lanes));
  const std::vector<Lane> drawn = bound.levels.lanes(coarse).lanes;
  REQUIRE_FALSE(drawn.empty());
  for (const Lane& lane : drawn) {
    CHECK_FALSE(lane.cells.empty());
    std::map<unsigned, std::uint64_t> per_depth;
    for (const LaneCell& cell : lane.cells) per_depth[cell.depth]++;
    for (const auto& [depth, count] : per_depth) CHECK(count <= 3 * coarse.cells);
  }
}
