// SPDX-License-Identifier: GPL-2.0-only
// Tests the numbers of paths against all paths of random graphs with loops, and what is made of
// watched ways against walks through them.
#include "lib/blocks/path_numbers.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <catch2/catch.hpp>

#include "lib/blocks/path_profile.h"

using namespace fkt;

namespace {

constexpr std::uint32_t kOut = PathWay::kOutside;

struct Random {
  std::mt19937 engine;
  explicit Random(unsigned seed) : engine(seed) {}
  std::uint32_t below(std::uint32_t end) {
    return std::uniform_int_distribution<std::uint32_t>(0, end - 1)(engine);
  }
};

// A graph whose blocks are all reached, and reach the outside; ways back make loops. hidden: of a
// hundred ways forward, so many cannot be watched.
std::vector<PathWay> random_ways(Random& random, std::uint32_t blocks, std::uint32_t hidden) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t i = 1; i < blocks; i++) pairs.emplace(random.below(i), i);
  for (std::uint32_t i = 0; i + 1 < blocks; i++)
    pairs.emplace(i, i + 1 + random.below(blocks - i - 1));
  pairs.emplace(blocks - 1, kOut);
  for (std::uint32_t i = 0; i < blocks / 2; i++) {
    const std::uint32_t from = random.below(blocks);
    pairs.emplace(from, random.below(6) == 0 ? kOut : random.below(blocks));
  }
  std::vector<PathWay> ways;
  for (const auto& [from, to] : pairs) {
    const bool is_hidden = to > from && random.below(100) < hidden;
    ways.push_back({from, to, is_hidden ? 0 : 100 + ways.size(), random.below(3) == 0});
  }
  return ways;
}

// Follows all ways from a block to where paths end; each path as its block and its ways.
using WholePath = std::vector<std::uint32_t>;
void follow(const PathNumbers& numbers, std::uint32_t block, WholePath& path,
            std::set<WholePath>& all) {
  for (std::uint32_t way = 0; way < numbers.ways().size(); way++) {
    const PathWay& one = numbers.ways()[way];
    if (one.from != block) continue;
    path.push_back(way);
    if (one.to == kOut || numbers.is_cut(way)) {
      all.insert(path);
    } else {
      REQUIRE(path.size() < 100);
      follow(numbers, one.to, path, all);
    }
    path.pop_back();
  }
}
std::set<WholePath> all_paths(const PathNumbers& numbers) {
  std::set<std::uint32_t> begins{0};
  for (std::uint32_t way = 0; way < numbers.ways().size(); way++) {
    if (numbers.is_cut(way)) begins.insert(numbers.ways()[way].to);
  }
  std::set<WholePath> all;
  for (const std::uint32_t begin : begins) {
    WholePath path{begin};
    follow(numbers, begin, path, all);
  }
  return all;
}

WholePath whole(const Path& path) {
  WholePath all{path.begin};
  all.insert(all.end(), path.ways.begin(), path.ways.end());
  return all;
}

std::uint64_t sum_of(const PathNumbers& numbers, const Path& path) {
  std::uint64_t sum = numbers.sum_at(path.begin);
  for (const std::uint32_t way : path.ways) {
    if (numbers.is_watched(way)) sum += numbers.added_by(way);
  }
  return sum;
}

// Each number is that of one path, which the watched ways add up to.
void check_numbers(const PathNumbers& numbers) {
  const auto all = all_paths(numbers);
  REQUIRE(numbers.paths() == all.size());
  std::set<WholePath> numbered;
  for (std::uint64_t number = 0; number < numbers.paths(); number++) {
    const Path path = numbers.path(number);
    numbered.insert(whole(path));
    REQUIRE(sum_of(numbers, path) == number);
  }
  REQUIRE(numbered == all);
}

// No more is watched than there are independent circles, and cut ways.
void check_watched(const PathNumbers& numbers) {
  std::size_t watched = 0, cut = 0, kept = 0;
  std::set<std::uint32_t> begins{0};
  std::set<std::uint64_t> places;
  for (std::uint32_t way = 0; way < numbers.ways().size(); way++) {
    const PathWay& one = numbers.ways()[way];
    if (numbers.is_cut(way)) {
      cut++;
      begins.insert(one.to);
    } else {
      kept++;
      watched += numbers.is_watched(way);
    }
    if (numbers.is_watched(way)) {
      REQUIRE(one.place != 0);
      REQUIRE(places.insert(one.place).second);
    } else {
      REQUIRE_FALSE(numbers.is_cut(way));
    }
  }
  // Vertices: the blocks, and entry and exit, which are connected. Free edges connect few of them.
  REQUIRE(watched <= kept + begins.size() + cut - numbers.blocks());
  REQUIRE(watched + numbers.blocks() >= kept);
}

// Counts of paths by walks: what a profile must find.
struct Walks {
  std::map<WholePath, std::uint64_t> times, ticks, calls;
  std::uint64_t walks = 0;
};

class Walker {
 public:
  Walker(const PathNumbers& numbers, PathProfile& profile, Random& random)
      : numbers_(numbers), profile_(profile), random_(random) {
    out_.resize(numbers.blocks());
    for (std::uint32_t i = 0; i < numbers.ways().size(); i++) {
      out_[numbers.ways()[i].from].push_back(i);
    }
  }

  // Calls the function; sometimes it calls itself, as interrupts do. Returns how long that took.
  void call(std::uint64_t thread, unsigned depth) {
    const std::uint64_t begin = ++clock_;
    std::uint64_t path_begin = begin;
    std::map<WholePath, bool> taken;
    WholePath path{0};
    const auto end_path = [&](std::uint32_t next) {
      walks.times[path]++;
      walks.ticks[path] += clock_ - path_begin;
      taken[path] = true;
      path_begin = clock_;
      path = {next};
    };
    for (std::uint32_t block = 0;;) {
      const std::uint32_t way =
          out_[block][random_.below(static_cast<std::uint32_t>(out_[block].size()))];
      path.push_back(way);
      clock_ += 1 + random_.below(5);
      if (numbers_.is_watched(way)) profile_.take(thread, clock_, way);
      block = numbers_.ways()[way].to;
      if (block == kOut) break;
      if (numbers_.is_cut(way)) end_path(block);
      if (depth < 3 && random_.below(12) == 0) call(thread, depth + 1);
    }
    clock_ += 3;
    end_path(0);
    for (const auto& one : taken) walks.calls[one.first]++;
    walks.walks++;
    profile_.end_call(thread, begin, clock_);
  }

  Walks walks;

 private:
  const PathNumbers& numbers_;
  PathProfile& profile_;
  Random& random_;
  std::vector<std::vector<std::uint32_t>> out_;
  std::uint64_t clock_ = 0;
};

std::vector<PathWay> diamond() {
  return {{0, 1, 10}, {0, 2, 11}, {1, 3, 12}, {2, 3, 13}, {3, kOut, 14}};
}

}  // namespace

TEST_CASE("each path of a graph has a number, which its watched ways add up to") {
  unsigned numbered = 0;
  for (unsigned seed = 0; seed < 400; seed++) {
    Random random(seed);
    const std::uint32_t blocks = 1 + random.below(11);
    const std::uint64_t most = seed % 3 == 0 ? 1 + random.below(8) : PathNumbers::kMostFromBlock;
    const auto numbers = PathNumbers::of(blocks, random_ways(random, blocks, seed % 2 * 30), most);
    // With hidden ways it may be impossible.
    if (!numbers) {
      REQUIRE(seed % 2 == 1);
      continue;
    }
    INFO(seed);
    numbered++;
    check_numbers(*numbers);
    check_watched(*numbers);
  }
  CHECK(numbered > 250);
}

TEST_CASE("a profile has the paths of all calls, whatever they contain") {
  for (unsigned seed = 0; seed < 100; seed++) {
    Random random(seed);
    const std::uint32_t blocks = 2 + random.below(14);
    const auto numbers =
        PathNumbers::of(blocks, random_ways(random, blocks, 0), 1 + random.below(40));
    REQUIRE(numbers);
    PathProfile profile(*numbers);
    Walker walker(*numbers, profile, random);
    for (unsigned i = 0; i < 300; i++) walker.call(random.below(3), 0);
    INFO(seed);
    Walks found;
    for (const auto& row : profile.rows()) {
      const WholePath path = whole(numbers->path(row.number));
      found.times[path] = row.times;
      found.ticks[path] = row.ticks;
      found.calls[path] = row.calls;
    }
    REQUIRE(found.times == walker.walks.times);
    REQUIRE(found.ticks == walker.walks.ticks);
    REQUIRE(found.calls == walker.walks.calls);
    REQUIRE(profile.sums().calls == walker.walks.walks);
    REQUIRE(profile.sums().calls_unclear == 0);
    REQUIRE(profile.sums().ways_outside == 0);
  }
}

TEST_CASE("of two branches that join one way is watched") {
  const auto numbers = PathNumbers::of(4, diamond());
  REQUIRE(numbers);
  CHECK(numbers->paths() == 2);
  unsigned watched = 0;
  for (std::uint32_t i = 0; i < 5; i++) watched += numbers->is_watched(i);
  CHECK(watched == 1);
}

TEST_CASE("ways that cannot be watched, or only where another one is, are left to others") {
  auto ways = diamond();
  for (const std::size_t i : {0, 1, 2}) ways[i].place = 0;
  auto numbers = PathNumbers::of(4, ways);
  REQUIRE(numbers);
  CHECK(numbers->is_watched(3));
  ways[3].place = 0;
  numbers = PathNumbers::of(4, ways);
  REQUIRE_FALSE(numbers);
  CHECK(numbers.error().code == ErrorCode::usage);
  CHECK(numbers.error().message.find("cannot be seen") != std::string::npos);

  // A loop whose way back is not seen.
  CHECK_FALSE(PathNumbers::of(2, {{0, 1, 1}, {1, 0, 0}, {1, kOut, 2}}));
  // Two that only one instruction tells of: three ways join, and two have to be watched.
  std::vector<PathWay> three = {{0, 1, 1}, {0, 2, 1}, {0, 3, 1},   {1, 4, 4},
                                {2, 4, 5}, {3, 4, 6}, {4, kOut, 7}};
  numbers = PathNumbers::of(5, three);
  REQUIRE(numbers);
  check_numbers(*numbers);
  check_watched(*numbers);
  for (auto& way : three) way.place = std::min<std::uint64_t>(way.place, 1);
  CHECK_FALSE(PathNumbers::of(5, three));
}

TEST_CASE("a function with too many paths is cut at more places") {
  // A hundred branches in a row: 2^100 paths.
  std::vector<PathWay> ways;
  for (std::uint32_t i = 0; i < 100; i++) {
    const std::uint32_t at = 3 * i;
    for (const auto& [from, to] :
         {std::pair{at, at + 1}, {at, at + 2}, {at + 1, at + 3}, {at + 2, at + 3}}) {
      ways.push_back({from, to, ways.size() + 1});
    }
  }
  ways.push_back({300, kOut, 1000});
  const auto numbers = PathNumbers::of(301, ways);
  REQUIRE(numbers);
  CHECK(numbers->paths() < std::uint64_t{1} << 50);
  PathProfile profile(*numbers);
  Random random(7);
  Walker walker(*numbers, profile, random);
  for (unsigned i = 0; i < 50; i++) walker.call(1, 3);
  CHECK(profile.sums().calls == 50);
  std::uint64_t times = 0;
  for (const auto& row : profile.rows()) times += row.times;
  CHECK(times > 50);
  for (auto& way : ways) way.place = way.to == kOut || way.from % 3 != 0 ? 0 : way.place;
  REQUIRE(PathNumbers::of(301, ways));
  for (auto& way : ways) way.place = 0;
  CHECK_FALSE(PathNumbers::of(301, ways));
}

TEST_CASE("calls whose ways are no path, and those in gaps, are not counted") {
  // 0 -> 1 or 2 -> 3, and back to 0.
  auto ways = diamond();
  ways.push_back({3, 0, 20});
  const auto numbers = PathNumbers::of(4, ways);
  REQUIRE(numbers);
  std::vector<std::uint32_t> chords;
  for (std::uint32_t i = 0; i < ways.size(); i++) {
    if (numbers->is_watched(i) && !numbers->is_cut(i)) chords.push_back(i);
  }
  REQUIRE(chords.size() == 1);
  PathProfile profile(*numbers);
  profile.take(1, 10, chords[0]);
  profile.take(1, 11, chords[0]);  // twice in one path
  profile.end_call(1, 5, 20);
  CHECK(profile.sums().calls_unclear == 1);

  profile.take(1, 30, chords[0]);
  profile.begin_gap();
  profile.end_gap(32);
  profile.end_call(1, 25, 40);
  CHECK(profile.sums().calls_in_gaps == 1);
  profile.begin_gap();
  profile.end_call(2, 41, 42);
  profile.end_gap(43);
  CHECK(profile.sums().calls_in_gaps == 2);

  // A call that began before, and one that does not end.
  profile.take(1, 50, chords[0]);
  profile.end_call(1, 51, 60);
  profile.take(1, 70, chords[0]);
  CHECK(profile.sums().ways_outside == 2);
  CHECK(profile.sums().calls == 1);
  REQUIRE(profile.rows().size() == 1);
  CHECK(profile.rows()[0].ticks == 9);
  // It belongs to the thread that took it.
  profile.take(1, 80, chords[0]);
  profile.end_call(2, 75, 90);
  CHECK(profile.rows().size() == 1);
  CHECK(profile.rows()[0].times == 2);
}
