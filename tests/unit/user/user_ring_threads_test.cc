// SPDX-License-Identifier: GPL-2.0-only
// Tests a thread that writes events by fkt/user.h while the recorder's reader of its ring runs in
// another thread; also under ThreadSanitizer (user_ring_tsan).
#include <fkt/user.h>

#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

#include "lib/user/ring_reader.h"

using namespace fkt;

namespace {

constexpr std::uint64_t kWords = 4096;
constexpr std::uint32_t kEvents = 400'000;

// A ring's memory as programs map it: the words once more behind themselves, so that an event that
// goes on at the begin of the ring is written in one piece.
class Memory {
 public:
  Memory() {
    constexpr std::size_t kWordBytes = kWords * 8;
    const int file = ::memfd_create("ring", 0);
    REQUIRE(file >= 0);
    REQUIRE(::ftruncate(file, FKT_USER_HEADER_BYTES + kWordBytes) == 0);
    void* const all = ::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(all != MAP_FAILED);
    begin_ = static_cast<char*>(all);
    const auto map = [&](char* at, std::size_t bytes, off_t from) {
      return ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, from) == at;
    };
    REQUIRE(map(begin_, FKT_USER_HEADER_BYTES + kWordBytes, 0));
    REQUIRE(map(begin_ + FKT_USER_HEADER_BYTES + kWordBytes, kWordBytes, FKT_USER_HEADER_BYTES));
    ::close(file);
  }
  ~Memory() { ::munmap(begin_, kBytes); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  fkt_user_ring* ring() const { return reinterpret_cast<fkt_user_ring*>(begin_); }
  __u64* words() const { return reinterpret_cast<__u64*>(begin_ + FKT_USER_HEADER_BYTES); }

 private:
  static constexpr std::size_t kBytes = FKT_USER_HEADER_BYTES + 2 * kWords * 8;
  char* begin_ = nullptr;
};

// Takes events whose numbers rise, and which all have twice their number as their word.
class Check : public RingSink {
 public:
  void event(std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
             std::span<const std::uint64_t> words) override {
    wrong_ += id != FKT_E_USER_PROBE1 || words.size() != 1 || words[0] != 2 * std::uint64_t{arg};
    wrong_ += taken_ != 0 && arg <= last_;
    wrong_ += clock < clock_;
    last_ = arg;
    clock_ = clock;
    taken_++;
  }
  void lost(std::uint64_t, std::uint64_t count, std::uint64_t) override { lost_ += count; }

  std::uint64_t wrong() const { return wrong_; }
  std::uint64_t taken() const { return taken_; }
  std::uint64_t lost_events() const { return lost_; }

 private:
  std::uint64_t wrong_ = 0, taken_ = 0, lost_ = 0, clock_ = 0;
  std::uint32_t last_ = 0;
};

}  // namespace

TEST_CASE(
    "a program's thread against the recorder's: each event is taken whole or counted as lost") {
  const Memory memory;
  fkt_user_ring* const ring = memory.ring();
  ring->clock = FKT_USER_TSC;
  fkt_user_thread thread{};
  thread.ring = ring;
  thread.words = memory.words();
  thread.mask = kWords - 1;
  thread.clock = FKT_USER_TSC;
  const std::uint64_t begin = fkt_user_clock(&thread);
  thread.last = begin;

  std::atomic<bool> has_ended = false;
  std::thread writer([&] {
    for (std::uint32_t i = 0; i < kEvents; i++) {
      const __u64 word = 2 * __u64{i};
      fkt_user_write_to(&thread, 0, FKT_E_USER_PROBE1, i, &word, 1);
      // The ring becomes full now and then, and empty.
      if (i % 10'000 == 0) std::this_thread::yield();
    }
    has_ended = true;
  });
  RingReader reader(ring, kWords, begin, 1000);
  Check check;
  while (!has_ended) reader.take(fkt_user_clock(&thread), false, check);
  writer.join();
  while (reader.take(fkt_user_clock(&thread), true, check)) {
  }
  CHECK(reader.is_sound());
  CHECK(check.wrong() == 0);
  CHECK(reader.unfinished() == 0);
  CHECK(check.taken() > 0);
  CHECK(check.taken() + check.lost_events() == kEvents);
}
