// SPDX-License-Identifier: GPL-2.0-only
// Tests the detection of recordings that feed on themselves: the attribution of a page's words to
// threads (fkt/page_walk.h), with pages built word by word; and when the warning is given.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

#include <fkt/page_walk.h>

#include "cli/fkt_record/status/self_load.h"

using namespace fkt::record;

namespace {

constexpr std::uint32_t kOwn = 100, kOther = 200;

int is_own(std::uint32_t tid) {
  return tid == kOwn;
}

// Number of bytes of thread kOwn in a page; thread `first` runs at its begin.
std::uint32_t own_bytes(std::uint32_t first, const std::vector<std::uint64_t>& words) {
  std::vector<std::uint64_t> page(FKT_PAGE_MIN_BYTES / 8);
  fkt_page_header header{};
  header.pid = first;
  std::memcpy(page.data(), &header, sizeof header);
  std::ranges::copy(words, page.begin() + sizeof header / 8);
  const auto used = static_cast<std::uint32_t>(sizeof header + words.size() * 8);
  return fkt_page_bytes_of(reinterpret_cast<const fkt_page_header*>(page.data()), used, is_own);
}

std::uint64_t pid(std::uint32_t tid) {
  return fkt_word(0, FKT_W_PID, tid);
}

fkt_status sampled(std::uint64_t own, std::uint64_t sampled_bytes) {
  fkt_status status{};
  status.own_bytes = own;
  status.sampled_bytes = sampled_bytes;
  return status;
}

}  // namespace

TEST_CASE("words belong to the thread that ran") {
  const std::uint64_t call = fkt_word(0, FKT_P_SYSCALL + 39, 1);
  CHECK(own_bytes(kOwn, {call, call}) == 16);
  CHECK(own_bytes(kOther, {call, call}) == 0);
  CHECK(own_bytes(kOther, {call, pid(kOwn), call, call, pid(kOther), call}) == 24);
  CHECK(own_bytes(kOwn, {}) == 0);
}

TEST_CASE("a switch is its old thread's, what follows the new one's") {
  const std::uint64_t call = fkt_word(0, FKT_P_SYSCALL + 39, 1);
  const std::uint64_t to_own = fkt_word(0, FKT_E_SWITCH_S, kOwn);
  const std::uint64_t to_other = fkt_word(0, FKT_E_SWITCH_PREEMPT, kOther);
  CHECK(own_bytes(kOther, {to_own, call, to_other, call, call}) == 16);
}

TEST_CASE("words behind an event are not events") {
  // Data words that look like a switch to the own thread.
  CHECK(own_bytes(kOther, {fkt_word(0, FKT_E_WAKEUP, 7), pid(kOwn), fkt_word(0, FKT_E_NMI, 0)}) ==
        0);
  CHECK(own_bytes(kOther, {fkt_word(0, FKT_W_LOST, 0), pid(kOwn), pid(kOwn)}) == 0);
  // exec has as many data words as its argument says.
  CHECK(own_bytes(kOther, {fkt_word(0, FKT_E_EXEC, 3), pid(kOwn), pid(kOwn), pid(kOwn)}) == 0);
  CHECK(own_bytes(kOwn, {fkt_word(0, FKT_E_EXEC, 3), 0, 0, 0}) == 32);
}

TEST_CASE("a recording that feeds on itself is told of once") {
  SelfLoad share;
  CHECK_FALSE(share.look(sampled(0, 1 << 20)));
  // A large share of few bytes: an idle machine.
  CHECK_FALSE(share.look(sampled(20'000, (1 << 20) + 20'000)));
  // A small share of many bytes.
  CHECK_FALSE(share.look(sampled(120'000, 4 << 20)));
  const auto told = share.look(sampled(120'000 + 1'800'000, (4 << 20) + 3'000'000));
  REQUIRE(told);
  CHECK_THAT(*told, Catch::Matchers::StartsWith("60 % of what is recorded is the recorder's own"));
  CHECK_THAT(*told, Catch::Matchers::Contains("--no-self"));
  CHECK_FALSE(share.look(sampled(3 << 20, 8 << 20)));
}

TEST_CASE("the share of a whole recording") {
  CHECK_FALSE(self_percent(sampled(0, 0)));
  CHECK(self_percent(sampled(25, 100)) == 25.0);
}
