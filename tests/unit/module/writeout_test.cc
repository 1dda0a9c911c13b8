// SPDX-License-Identifier: GPL-2.0-only
// Tests module/drain/writeout.c with an output that fails at chosen places: the offsets of the
// pages, the order in which they count as written, and what happens to the rest.
#include <catch2/catch.hpp>

#include <cerrno>
#include <cstdint>
#include <vector>

#include <fkt/ioctl.h>

#include "tests/unit/kernel/writeout_harness.h"

namespace {

constexpr std::uint64_t kPage = WRITEOUT_PAGE;
constexpr std::uint32_t kBatch = 16;    // pages of a write
constexpr std::uint32_t kInFlight = 8;  // writes

// As struct writeout_setup.
struct Setup {
  std::uint64_t start = 0, limit = 0, most = INT64_MAX, reserve = 0;
  std::uint32_t reserve_per_page = 0;
  bool is_device = false, allocates = false;
};

class Output {
 public:
  explicit Output(const Setup& s = Setup()) {
    const writeout_setup setup{s.start,     s.limit,    s.most, s.reserve, s.reserve_per_page,
                               s.is_device, s.allocates};
    writeout_begin(&setup);
  }
  ~Output() { writeout_end(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void add(std::uint32_t pages, std::uint32_t cpu = 0, bool inherited = false) {
    for (std::uint32_t i = 0; i < pages; i++) writeout_add_page(cpu, inherited);
  }
  const struct writeout_seen& seen() const { return writeout_seen; }
};

std::vector<std::uint32_t> recycled() {
  return {writeout_seen.recycled, writeout_seen.recycled + writeout_seen.recycled_count};
}

// Returns the index's sequence number of a page of the output; -1: it has none.
std::int64_t index_of(std::uint64_t page) {
  std::uint32_t seq = 0;
  return writeout_index(page, &seq) ? -1 : std::int64_t{seq};
}

}  // namespace

TEST_CASE(
    "complete pages are written 16 at a time, one behind the other, and go back to their rings") {
  Output output({.start = 8 * kPage});
  output.add(kBatch + 3);
  output.add(2, 2);
  CHECK_FALSE(writeout_move(true));
  REQUIRE(output.seen().count == 2);
  CHECK(output.seen().writes[0].at == 8 * kPage);
  CHECK(output.seen().writes[0].bytes == kBatch * kPage);
  CHECK(output.seen().writes[1].at == (8 + kBatch) * kPage);
  CHECK(output.seen().writes[1].bytes == 5 * kPage);
  CHECK(output.seen().written == 21);
  CHECK(output.seen().discarded == 0);
  CHECK(output.seen().recycled_count == 21);
  CHECK(output.seen().ended == 0);
  CHECK_FALSE(writeout_is_busy());
  CHECK(index_of(0) == 0);
  CHECK(index_of(20) >= 0);
  CHECK(index_of(21) == -1);
  writeout_truncate();
  CHECK(output.seen().truncated == (8 + 21) * kPage);
}

TEST_CASE("few pages wait until all are asked for, and then there are large writes only") {
  Output output;
  output.add(5);
  CHECK_FALSE(writeout_move(false));
  CHECK(output.seen().count == 0);
  CHECK_FALSE(writeout_move(true));
  REQUIRE(output.seen().count == 1);
  CHECK(output.seen().writes[0].pages == 5);
  output.add(2 * kBatch + 5);
  CHECK_FALSE(writeout_move(false));
  REQUIRE(output.seen().count == 3);
  CHECK(output.seen().writes[2].pages == kBatch);
  CHECK(output.seen().written == 5 + 2 * kBatch);
}

TEST_CASE("no more writes are made in one call than can be in flight") {
  Output output;
  output.add((kInFlight + 2) * kBatch);
  CHECK(writeout_move(true));
  CHECK(output.seen().count == kInFlight);
  CHECK_FALSE(writeout_move(true));
  CHECK(output.seen().count == kInFlight + 2);
}

TEST_CASE("writes end in any order, pages count as written in the order of the file") {
  Output output;
  writeout_asynchronous = true;
  output.add((kInFlight + 1) * kBatch);
  CHECK(writeout_move(true));
  REQUIRE(output.seen().count == kInFlight);
  writeout_finish(&output.seen().writes[1], kBatch * kPage);
  CHECK_FALSE(writeout_move(true));
  CHECK(output.seen().written == 0);
  CHECK(output.seen().count == kInFlight);
  writeout_finish(&output.seen().writes[0], kBatch * kPage);
  CHECK_FALSE(writeout_move(true));
  CHECK(output.seen().written == 2 * kBatch);
  CHECK(output.seen().count == kInFlight + 1);
  CHECK(writeout_is_busy());
  std::vector<std::uint32_t> first(2 * kBatch);
  for (std::uint32_t i = 0; i < first.size(); i++) first[i] = i;
  CHECK(recycled() == first);
}

TEST_CASE("the rest of a short write is written behind what was taken") {
  Output output;
  writeout_results[0] = 3 * kPage + 100;
  output.add(kBatch);
  CHECK_FALSE(writeout_move(true));
  REQUIRE(output.seen().count == 2);
  CHECK(output.seen().writes[1].at == 3 * kPage + 100);
  CHECK(output.seen().writes[1].bytes == kBatch * kPage - 3 * kPage - 100);
  CHECK(output.seen().written == kBatch);
  CHECK(output.seen().ended == 0);
}

TEST_CASE("a write that fails ends the recording at the last whole page before it") {
  Output output;
  writeout_results[0] = 3 * kPage + 100;
  writeout_results[1] = -EIO;
  output.add(2 * kBatch);
  writeout_move(true);
  CHECK(output.seen().written == 3);
  CHECK(output.seen().discarded == 2 * kBatch - 3);
  CHECK(output.seen().recycled_count == 2 * kBatch);
  CHECK(output.seen().ended == 1);
  CHECK(output.seen().reason == FKT_STOP_ERROR);
  CHECK(output.seen().error == EIO);
  CHECK(index_of(2) == 2);
  CHECK(index_of(3) == -1);
  // Pages that are completed later are discarded, too.
  output.add(4);
  writeout_move(true);
  CHECK(output.seen().count == 2);
  CHECK(output.seen().discarded == 2 * kBatch + 1);
  writeout_truncate();
  CHECK(output.seen().truncated == 3 * kPage);
}

TEST_CASE("writes behind one that fails count as not written, whatever became of them") {
  Output output;
  writeout_asynchronous = true;
  output.add(3 * kBatch);
  writeout_move(true);
  REQUIRE(output.seen().count == 3);
  writeout_finish(&output.seen().writes[2], kBatch * kPage);
  writeout_finish(&output.seen().writes[1], 5 * kPage);
  writeout_finish(&output.seen().writes[0], -ENOSPC);
  writeout_move(true);
  CHECK(output.seen().count == 3);
  CHECK(output.seen().written == 0);
  CHECK(output.seen().discarded == 3 * kBatch);
  CHECK(output.seen().ended == 1);
  CHECK(output.seen().reason == FKT_STOP_FULL);
  CHECK(output.seen().error == ENOSPC);
  CHECK_FALSE(writeout_is_busy());
}

TEST_CASE("a write of no bytes is an error, not a write to be tried for ever") {
  Output output;
  writeout_asynchronous = true;
  output.add(1);
  writeout_move(true);
  writeout_finish(&output.seen().writes[0], 0);
  writeout_move(true);
  CHECK(output.seen().count == 1);
  CHECK(output.seen().reason == FKT_STOP_ERROR);
  CHECK(output.seen().error == EIO);
}

TEST_CASE("pages beyond the limit are discarded, and the recording ends once") {
  Output output({.start = kPage, .limit = 20 * kPage});
  output.add(30);
  writeout_move(true);
  REQUIRE(output.seen().count == 2);
  CHECK(output.seen().writes[1].pages == 4);
  CHECK(output.seen().written == 20);
  output.add(3);
  writeout_move(true);
  CHECK(output.seen().count == 2);
  CHECK(output.seen().discarded == 13);
  CHECK(output.seen().recycled_count == 33);
  CHECK(output.seen().ended == 1);
  CHECK(output.seen().reason == FKT_STOP_LIMIT);
  CHECK(output.seen().error == 0);
}

TEST_CASE("file space is allocated in steps that grow, and shrink where the disk is nearly full") {
  Output output({.allocates = true});
  output.add(2 * kBatch);
  SECTION("there is room") {
    writeout_move(true);
    REQUIRE(output.seen().rooms == 1);
    CHECK(output.seen().room[0] == 1 << 20);
    output.add(300);
    while (writeout_move(true)) continue;
    REQUIRE(output.seen().rooms == 2);
    CHECK(output.seen().room[1] == 2 << 20);
  }
  SECTION("there is room for one write") {
    writeout_room = kBatch * kPage + kPage / 2;
    writeout_move(true);
    CHECK(output.seen().written == kBatch);
    CHECK(output.seen().discarded == kBatch);
    CHECK(output.seen().reason == FKT_STOP_FULL);
    CHECK(output.seen().error == ENOSPC);
    CHECK(output.seen().ended == 1);
  }
  SECTION("there is quota, or memory of a cgroup, for one write") {
    writeout_no_room = GENERATE(-EDQUOT, -ENOMEM);
    writeout_room = kBatch * kPage + kPage / 2;
    writeout_move(true);
    CHECK(output.seen().written == kBatch);
    CHECK(output.seen().discarded == kBatch);
    CHECK(output.seen().error == -writeout_no_room);
    CHECK(output.seen().ended == 1);
  }
  SECTION("the file system cannot allocate in advance") {
    writeout_room = -EOPNOTSUPP;
    writeout_move(true);
    CHECK(output.seen().rooms == 1);
    CHECK(output.seen().written == 2 * kBatch);
  }
  SECTION("it fails") {
    writeout_room = -EIO;
    writeout_move(true);
    CHECK(output.seen().count == 0);
    CHECK(output.seen().discarded == 2 * kBatch);
    CHECK(output.seen().reason == FKT_STOP_ERROR);
  }
}

TEST_CASE("writes in flight count as written when there is no room for the next one") {
  Output output({.allocates = true});
  writeout_asynchronous = true;
  writeout_room = kBatch * kPage;
  output.add(2 * kBatch);
  writeout_move(true);
  REQUIRE(output.seen().count == 1);
  CHECK(output.seen().reason == FKT_STOP_FULL);
  writeout_finish(&output.seen().writes[0], kBatch * kPage);
  writeout_move(true);
  CHECK(output.seen().written == kBatch);
  CHECK(output.seen().discarded == kBatch);
  CHECK(output.seen().ended == 1);
  CHECK(index_of(kBatch - 1) == kBatch - 1);
  writeout_truncate();
  CHECK(output.seen().truncated == kBatch * kPage);
}

TEST_CASE("as many pages are written as the output has room for") {
  SECTION("the largest size of a file") {
    Output output({.most = (kBatch + 5) * kPage + 10});
    output.add(3 * kBatch);
    writeout_move(true);
    CHECK(output.seen().error == EFBIG);
    CHECK(output.seen().written == kBatch + 5);
    CHECK(output.seen().discarded == 2 * kBatch - 5);
    CHECK(output.seen().recycled_count == 3 * kBatch);
    CHECK(output.seen().ended == 1);
    writeout_truncate();
    CHECK(output.seen().truncated == (kBatch + 5) * kPage);
  }
  SECTION("a disk") {
    Output output({.allocates = true});
    writeout_no_room = GENERATE(-ENOSPC, -EDQUOT);
    writeout_room = (kBatch + 7) * kPage + kPage / 2;
    output.add(2 * kBatch);
    writeout_move(true);
    CHECK(output.seen().error == -writeout_no_room);
    CHECK(output.seen().written == kBatch + 7);
    CHECK(output.seen().discarded == kBatch - 7);
    CHECK(output.seen().ended == 1);
  }
}

TEST_CASE("the end of a device and the largest size of a file end the recording") {
  const bool is_device = GENERATE(false, true);
  Output output({.most = kBatch * kPage + 10, .is_device = is_device});
  output.add(2 * kBatch);
  writeout_move(true);
  CHECK(output.seen().written == kBatch);
  CHECK(output.seen().reason == FKT_STOP_FULL);
  CHECK(output.seen().error == (is_device ? ENOSPC : EFBIG));
  writeout_truncate();
  CHECK(output.seen().truncated == (is_device ? 0 : kBatch * kPage));
}

TEST_CASE("the reserve behind the pages is computed without an overflow") {
  std::uint64_t need = 0;
  {
    Output output({.reserve = 1000, .reserve_per_page = 64});
    CHECK(writeout_fits(10 * kPage, &need));
    CHECK(need == 10 * kPage + 10 * 64 + 1000);
  }
  {
    Output output({.reserve_per_page = UINT32_MAX});
    CHECK(writeout_fits(std::uint64_t{1} << 40, &need));
    CHECK_FALSE(writeout_fits(std::uint64_t{1} << 62, &need));
  }
  for (const std::uint64_t reserve : {std::uint64_t{1} << 63, UINT64_MAX}) {
    Output output({.reserve = reserve, .reserve_per_page = 1});
    CHECK_FALSE(writeout_fits(kPage, &need));
  }
}

TEST_CASE(
    "pages that a dead owner had are written before those in the rings, and not reused at once") {
  Output output;
  output.add(3);
  output.add(2, 1, true);
  CHECK_FALSE(writeout_move(false));
  REQUIRE(output.seen().count == 1);
  CHECK(output.seen().written == 5);
  CHECK(output.seen().pooled == 2);
  CHECK(recycled() == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(index_of(0) == 3);
  CHECK(index_of(1) == 4);
  CHECK(index_of(2) == 0);
}
