// SPDX-License-Identifier: GPL-2.0-only
// Tests stored checkpoints: a slice made with them equals one made without; they are stored and
// found again; damaged, foreign or incomplete ones are ignored.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <unistd.h>

#include "lib/slice/checkpoints.h"
#include "tests/unit/folder.h"
#include "tests/unit/random_recording.h"
#include "tests/unit/slices.h"

using namespace fkt;
using namespace fkt::test;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kApart = 3 * 4096;  // bytes; pages of these recordings have 4096

// Returns the only file of a directory.
fs::path only_file(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  REQUIRE(files.size() == 1);
  return files[0];
}

Bytes slice_with(const Recording& trace, CheckpointCache* cache, std::uint64_t from,
                 std::uint64_t to) {
  SliceOptions options;
  options.cache = cache;
  return slice_of(trace, {{from, to}}, options);
}

std::size_t count_known(const CheckpointCache& cache) {
  return static_cast<std::size_t>(std::ranges::count_if(
      cache.moments(), [&](std::uint64_t moment) { return cache.knows(moment); }));
}

// Computes the states of the whole recording.
void fill(const Recording& trace, CheckpointCache& cache) {
  REQUIRE_FALSE(cache.moments().empty());
  CHECK(read_checkpoints(trace, {{cache.moments().back()}}, &cache, {}).size() == 1);
}

std::string checkpoint_of(const Bytes& slice) {
  return opened(slice).info().checkpoint->to_lines();
}

// Compares slices made with and without stored checkpoints byte by byte.
void check_slice(const Recording& trace, CheckpointCache& cache, std::uint64_t from,
                 std::uint64_t to) {
  INFO("from " << from - T << " to " << to - T);
  const Bytes with = slice_with(trace, &cache, from, to);
  const Bytes without = slice_with(trace, nullptr, from, to);
  CHECK(checkpoint_of(with) == checkpoint_of(without));
  const bool same = with == without;
  CHECK(same);
}

Bytes bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("a slice cut with known states is the one cut without") {
  for (unsigned seed = 1; seed <= 16; seed++) {
    RandomRecording random(seed, 1 + seed % 4, 9000);
    const Recording trace = opened(random.finish());
    CheckpointCache cache(trace, "", kApart);
    REQUIRE(cache.moments().size() > 5);
    std::mt19937 choose(seed);
    std::uniform_int_distribution<std::uint64_t> moment(T, random.end());
    for (int i = 0; i < 24; i++) {
      const std::uint64_t a = moment(choose), b = moment(choose);
      if (a == b) continue;
      INFO("seed " << seed);
      check_slice(trace, cache, std::min(a, b), std::max(a, b));
    }
    CHECK(count_known(cache) > cache.moments().size() / 2);
    for (const std::uint64_t at : cache.moments()) {
      check_slice(trace, cache, at, random.end());
    }
  }
}

TEST_CASE("known states are kept, and what is before them is not read again") {
  RandomRecording random(3, 2, 9000, RandomRecording::Kind::lossless);
  Bytes file = random.finish();
  const Folder around;
  const std::string folder = around.file("fkt");
  const Recording trace = opened(file);
  CheckpointCache first(trace, folder, kApart);
  CHECK(count_known(first) == 0);
  fill(trace, first);
  CHECK(count_known(first) == first.moments().size());
  REQUIRE(first.keep());
  const fs::path kept = only_file(folder);
  CHECK((fs::status(kept).permissions() & fs::perms::group_all) == fs::perms::none);

  CheckpointCache again(trace, folder, kApart);
  CHECK(count_known(again) == first.moments().size());
  REQUIRE(again.keep());  // nothing new to store

  // A damaged page that need not be read does not matter.
  const std::uint64_t from = again.moments()[again.moments().size() / 2] + 5;
  const Bytes good = slice_with(trace, nullptr, from, random.end());
  std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(trace.pages()[2].offset) + 200, 64,
              std::byte{0xff});
  const Recording damaged = opened(file);
  CHECK(slice_with(damaged, &again, from, random.end()) == good);
  CheckpointCache none(damaged, "", kApart);
  CHECK_FALSE(slice_with(damaged, &none, from, random.end()) == good);
  CHECK_FALSE(none.moments().empty());
  for (const std::uint64_t at : none.moments()) {  // known only up to the damaged page
    CHECK((!none.knows(at) || at <= damaged.pages()[2].end_clock));
  }
}

TEST_CASE("known states that are damaged or of another recording are none") {
  RandomRecording random(9, 2, 9000), other(10, 2, 9000);
  const Recording trace = opened(random.finish()), foreign = opened(other.finish());
  const Folder around;
  const std::string folder = around.file("fkt");
  CheckpointCache first(trace, folder, kApart);
  fill(trace, first);
  REQUIRE(first.keep());
  const fs::path kept = only_file(folder);
  const Bytes good = bytes_of(kept);
  CHECK(count_known(CheckpointCache(foreign, folder, kApart)) == 0);
  CheckpointCache others(foreign, folder, kApart);
  fill(foreign, others);
  REQUIRE(others.keep());
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    files++;
    // A good file under the name for the other recording.
    if (entry.path() != kept) write_file(entry.path(), good);
  }
  CHECK(files == 2);
  CHECK(count_known(CheckpointCache(foreign, folder, kApart)) == 0);

  const std::uint64_t from = T + (random.end() - T) * 3 / 4;
  const Bytes slice = slice_with(trace, nullptr, from, random.end());
  const auto check = [&](std::span<const std::byte> bytes) {
    write_file(kept, bytes);
    CheckpointCache found(trace, folder, kApart);
    CHECK(slice_with(trace, &found, from, random.end()) == slice);
  };
  for (std::size_t size = 0; size < good.size(); size += good.size() / 20) {
    check(std::span(good).first(size));
  }
  std::mt19937 choose(1);
  for (int i = 0; i < 60; i++) {
    Bytes bad = good;
    bad[choose() % bad.size()] ^= static_cast<std::byte>(1 + choose() % 255);
    check(bad);
  }
}

TEST_CASE("nothing is known of slices, parts, of what is not whole or short") {
  RandomRecording random(4, 2, 9000);
  const Bytes file = random.finish();
  const Recording trace = opened(file);
  CHECK(CheckpointCache(trace, "").moments().empty());  // by default they are megabytes apart
  const Recording slice = opened(slice_of(file, T + 1000, random.end()));
  CHECK(CheckpointCache(slice, "", kApart).moments().empty());
  RandomRecording flight(4, 2, 9000);
  flight.builder().section(FKT_SEC_TASKS_END, "42\t42\t1\twork\n");
  const Recording of_end = opened(flight.finish());
  CHECK(of_end.info().tasks_of_end);
  CHECK(CheckpointCache(of_end, "", kApart).moments().empty());
  Bytes damaged = file;
  damaged[trace.pages()[3].offset] ^= std::byte{1};
  const Recording bad =
      opened({damaged.begin(), damaged.begin() + static_cast<std::ptrdiff_t>(trace.tail_offset())});
  CHECK(bad.integrity().damaged_pages == 1);
  CHECK(CheckpointCache(bad, "", kApart).moments().empty());
}

TEST_CASE("known states that cannot be kept are told of, and serve all the same") {
  RandomRecording random(5, 2, 9000);
  const Recording trace = opened(random.finish());
  CheckpointCache cache(trace, "/proc/no/such/folder", kApart);
  fill(trace, cache);
  CHECK_FALSE(cache.keep());
  CHECK(count_known(cache) == cache.moments().size());
}

TEST_CASE("where states take too much room, every second goes") {
  RecordingBuilder b;
  b.pid(0, 42);
  std::uint64_t clock = T;
  for (std::uint32_t tid = 1000; tid < 41'000; tid++) {
    b.event(0, clock += 100, FKT_E_FORK, tid, {pair(tid, 42)});
  }
  for (int i = 0; i < 10'000; i++) {
    b.event(0, clock += 100, FKT_E_SYS_ENTRY, 39);
    b.event(0, clock += 100, FKT_E_SYS_EXIT, 0);
  }
  const Recording trace = opened(b.finish());
  CheckpointCache cache(trace, "", kApart);
  const std::size_t planned = cache.moments().size();
  fill(trace, cache);
  CHECK(cache.moments().size() < planned);
  CHECK(cache.moments().size() > 1);
  CHECK(slice_with(trace, &cache, clock - 5000, clock) ==
        slice_with(trace, nullptr, clock - 5000, clock));
}

TEST_CASE("only a folder of this user's own keeps known states") {
  const Folder folder;
  const std::string own = folder.file("own");
  fs::create_directory(own);
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string saved = before != nullptr ? before : "";
  setenv("XDG_CACHE_HOME", own.c_str(), 1);
  CHECK(cache_folder() == own + "/fkt");
  setenv("XDG_CACHE_HOME", (own + "/missing").c_str(), 1);
  CHECK(cache_folder().empty());
  // Root can give a folder away; for other users root's folders are another user's.
  const std::string others = geteuid() == 0 ? folder.file("others") : "/";
  if (geteuid() == 0) {
    fs::create_directory(others);
    REQUIRE(chown(others.c_str(), 65534, 65534) == 0);
  }
  setenv("XDG_CACHE_HOME", others.c_str(), 1);
  CHECK(cache_folder().empty());
  if (before != nullptr) {
    setenv("XDG_CACHE_HOME", saved.c_str(), 1);
  } else {
    unsetenv("XDG_CACHE_HOME");
  }
}
