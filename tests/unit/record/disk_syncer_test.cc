// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/disk_syncer.h"

#include <errno.h>
#include <poll.h>

#include <atomic>
#include <catch2/catch.hpp>

namespace fkt {
namespace {

using namespace std::chrono_literals;

bool readable(int fd, int wait_ms) {
  pollfd fds[] = {{fd, POLLIN, 0}};
  return ::poll(fds, 1, wait_ms) == 1;
}

TEST_CASE("what was written before a sync is safe behind it") {
  std::atomic<std::uint64_t> written = 5, told = 0;
  std::atomic<int> syncs = 0;
  auto syncer = DiskSyncer::start([&] { return syncs++, 0; }, 1ms, [&] { return written.load(); },
                                  [&](std::uint64_t safe) { told = safe; });
  REQUIRE(syncer);
  while (told != 5) std::this_thread::sleep_for(1ms);
  written = 7;
  while (told != 7) std::this_thread::sleep_for(1ms);
  REQUIRE((*syncer)->stop() == 0);
  REQUIRE((*syncer)->safe() == 7);
  REQUIRE(syncs == 2);  // no sync without new pages
  REQUIRE_FALSE(readable((*syncer)->fd(), 0));
}

TEST_CASE("after a sync that failed nothing is called safe, though the next would succeed") {
  std::atomic<std::uint64_t> written = 1, told = 0;
  std::atomic<int> syncs = 0;
  const auto second_fails = [&] { return ++syncs == 2 ? EIO : 0; };
  auto syncer = DiskSyncer::start(
      second_fails, 1ms, [&] { return written++; }, [&](std::uint64_t safe) { told = safe; });
  REQUIRE(syncer);
  REQUIRE(readable((*syncer)->fd(), 10'000));
  std::this_thread::sleep_for(20ms);
  REQUIRE((*syncer)->stop() == EIO);
  REQUIRE(syncs == 2);
  REQUIRE(told == 1);
  REQUIRE((*syncer)->safe() == 1);
}

}  // namespace
}  // namespace fkt
