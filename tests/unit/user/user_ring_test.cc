// SPDX-License-Identifier: GPL-2.0-only
// Tests the rings of user programs from both sides, the pages that are made of their events, and
// the numbers of events that programs define.
#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include <sys/time.h>

#include <fkt/events.h>
#include <fkt/user_ring.h>

#include "lib/format/catalogue.h"
#include "lib/read/page_decoder.h"
#include "lib/user/event_numbers.h"
#include "lib/user/event_order.h"
#include "lib/user/page_writer.h"
#include "lib/user/ring_reader.h"

using namespace fkt;

namespace {

constexpr std::uint64_t kRingWords = 1024, kBegin = 1'000'000;

struct Taken {
  std::uint64_t clock = 0;
  std::uint32_t id = 0, arg = 0;
  std::vector<std::uint64_t> words;
};

class TakeAll : public RingSink {
 public:
  void event(std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
             std::span<const std::uint64_t> words) override {
    events.push_back({clock, id, arg, {words.begin(), words.end()}});
  }
  void lost(std::uint64_t clock, std::uint64_t count, std::uint64_t) override {
    CHECK(clock >= kBegin);
    lost_events += count;
  }
  std::vector<Taken> events;
  std::uint64_t lost_events = 0;
};

// A ring as the recorder makes it, with what a program may do to it.
class UserRing {
 public:
  UserRing()
      : memory_((FKT_USER_HEADER_BYTES / 8) + kRingWords),
        ring_(reinterpret_cast<fkt_user_ring*>(memory_.data())),
        reader(ring_, kRingWords, kBegin, 1000) {}
  fkt_user_ring& head() { return *ring_; }
  std::uint64_t& word(std::uint64_t at) {
    return memory_[FKT_USER_HEADER_BYTES / 8 + at % kRingWords];
  }
  // A whole event, as a program writes it.
  void write(std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
             const std::vector<std::uint64_t>& after = {}) {
    word(head().head) = fkt_word(clock, id, arg);
    for (std::size_t i = 0; i < after.size(); i++) word(head().head + 1 + i) = after[i];
    head().head += 1 + after.size();
  }
  bool take(TakeAll& all, bool has_ended = false) {
    return reader.take(~std::uint64_t{0} >> 1, has_ended, all);
  }

 private:
  std::vector<std::uint64_t> memory_;
  fkt_user_ring* ring_;

 public:
  RingReader reader;
};

}  // namespace

TEST_CASE("a ring's events are taken whole, in order, around its end") {
  UserRing ring;
  TakeAll all;
  std::uint64_t clock = kBegin;
  for (std::uint32_t i = 0; i < 2000; i++) {
    clock += i % 500 == 7 ? std::uint64_t{1} << 40 : 13;
    if (i % 500 == 7) {
      ring.write(clock, FKT_W_TIME, static_cast<std::uint32_t>(clock >> FKT_TIME_BITS));
    }
    ring.write(clock, FKT_E_USER_PROBE2, i, {i * std::uint64_t{3}});
    if (i % 100 == 99) ring.take(all);
    if (i % 100 == 99) CHECK(ring.head().tail == ring.head().head);
  }
  REQUIRE(all.events.size() == 2000);
  for (std::uint32_t i = 0; i < 2000; i++) {
    CHECK(all.events[i].arg == i);
    CHECK(all.events[i].words == std::vector<std::uint64_t>{i * std::uint64_t{3}});
  }
  CHECK(all.events.back().clock == clock);
  for (std::uint64_t i = 0; i < kRingWords; i++) CHECK(ring.word(i) == 0);
  CHECK_FALSE(ring.take(all));
}

TEST_CASE("an event that is not finished is waited for, and skipped when its thread has ended") {
  UserRing ring;
  TakeAll all;
  ring.write(kBegin + 10, FKT_E_USER_PROBE0, 1);
  const std::uint64_t at = ring.head().head;
  ring.head().head += 3;  // reserved only
  ring.write(kBegin + 30, FKT_E_USER_PROBE0, 3);
  ring.take(all);
  CHECK(all.events.size() == 1);
  SECTION("finished later") {
    ring.word(at + 1) = 5;
    ring.word(at + 2) = 6;
    ring.word(at) = fkt_word(kBegin + 20, FKT_E_USER_PROBE, 2);
    ring.take(all);
    REQUIRE(all.events.size() == 3);
    CHECK(all.events[1].words == std::vector<std::uint64_t>{5, 6});
  }
  SECTION("never") {
    const bool has_mark = GENERATE(false, true);
    if (has_mark) {
      ring.word(at) = FKT_USER_UNFINISHED(2);
      ring.word(at + 1) = ~std::uint64_t{0};
    }
    ring.take(all, true);
    REQUIRE(all.events.size() == 2);
    CHECK(all.events[1].arg == 3);
    CHECK(ring.reader.unfinished() == 1);
  }
  SECTION("and much was written since") {
    while (ring.head().head - ring.head().tail < kRingWords / 2) {
      ring.write(kBegin + 40, FKT_E_USER_PROBE0, 4);
    }
    ring.take(all);
    CHECK(all.events.size() > 100);
    CHECK(ring.reader.unfinished() == 1);
  }
  CHECK(ring.reader.is_sound());
}

TEST_CASE("the events of two rings of a thread come out in the order of their times") {
  EventOrder order;
  TakeAll all;
  for (const std::uint32_t i : {1, 4, 5, 9}) order.event(kBegin + i, FKT_E_USER_PROBE0, i, {});
  for (const std::uint32_t i : {2, 3, 5, 7}) {
    const std::uint64_t word = i;
    order.event(kBegin + i, FKT_E_USER_PROBE1, 10 + i, {&word, 1});
  }
  order.lost(kBegin + 6, 3, kBegin + 5);
  order.release(kBegin + 5, all);
  const auto seen = [&] {
    std::vector<std::uint32_t> args;
    for (const Taken& event : all.events) args.push_back(event.arg);
    return args;
  };
  CHECK(seen() == std::vector<std::uint32_t>{1, 12, 13, 4, 5, 15});
  CHECK(all.lost_events == 0);
  order.event(kBegin + 8, FKT_E_USER_PROBE0, 8, {});
  order.release(~std::uint64_t{0}, all);
  CHECK(seen() == std::vector<std::uint32_t>{1, 12, 13, 4, 5, 15, 17, 8, 9});
  CHECK(all.events[6].words == std::vector<std::uint64_t>{7});
  CHECK(all.lost_events == 3);
  order.release(~std::uint64_t{0}, all);
  CHECK(all.events.size() == 9);
}

TEST_CASE("losses of a ring are told once, and a count that runs backwards is none") {
  UserRing ring;
  TakeAll all;
  ring.write(kBegin + 10, FKT_W_LOST, 0, {5, kBegin + 1});
  ring.write(kBegin + 20, FKT_E_USER_PROBE0, 1);
  ring.write(kBegin + 30, FKT_W_LOST, 0, {3, kBegin + 1});
  ring.head().lost = 9;
  ring.take(all);
  CHECK(all.lost_events == 5);
  ring.take(all, true);
  CHECK(all.lost_events == 9);
  CHECK(ring.reader.is_sound());
}

TEST_CASE("a ring that says that it lost more events than there were ticks is not believed") {
  UserRing ring;
  TakeAll all;
  ring.write(kBegin + 10, FKT_E_USER_PROBE0, 1);
  const bool in_word = GENERATE(false, true);
  if (in_word) ring.write(kBegin + 20, FKT_W_LOST, 0, {21, kBegin + 1});
  if (!in_word) ring.head().lost = kBegin;
  ring.write(kBegin + 30, FKT_E_USER_PROBE0, 2);
  ring.reader.take(kBegin + 40, true, all);
  CHECK(all.lost_events == 0);
  CHECK_FALSE(ring.reader.is_sound());
  CHECK(all.events.size() == (in_word ? 1 : 2));
}

TEST_CASE("a ring with any words in it gives only events of user programs, in time order") {
  std::mt19937_64 random(17);
  std::size_t events = 0;
  for (int round = 0; round < 3000; round++) {
    UserRing ring;
    TakeAll all;
    for (int step = 0; step < 6; step++) {
      for (std::uint64_t i = 0; i < kRingWords; i++) {
        const std::uint64_t any = random();
        // Ids that a ring may have are rare among all.
        ring.word(i) = any % 3 == 0   ? fkt_word(any, FKT_E_USER + any % 16, any >> 40)
                       : any % 3 == 1 ? fkt_word(any, any % 4, any >> 40)
                                      : any;
      }
      ring.head().head = random() % 4 == 0 ? random() : ring.head().tail + random() % kRingWords;
      ring.head().lost = random();
      const std::uint64_t now = kBegin + random() % 1000;
      ring.reader.take(now, step % 2 == 0, all);
      if (random() % 3 == 0) ring.head().tail = random();
    }
    std::uint64_t last = kBegin;
    for (const Taken& event : all.events) {
      REQUIRE(event.id >= FKT_E_USER);
      REQUIRE(event.id <= FKT_E_USER_PROBE2);
      REQUIRE(event.clock >= last);
      REQUIRE(event.clock < kBegin + 1000);
      last = event.clock;
    }
    events += all.events.size();
  }
  CHECK(events > 100);
}

TEST_CASE("pages of the page writer say what was written") {
  struct Kept {
    fkt_page_header header;
    std::vector<std::byte> bytes;
  };
  std::vector<Kept> pages;
  PageWriter writer({77, 4096, 3}, [&](const fkt_page_header& header, ByteView page) {
    pages.push_back({header, {page.begin(), page.end()}});
  });
  std::uint64_t clock = kBegin, written = 0;
  for (std::uint32_t i = 0; i < 5000; i++) {
    clock += i % 700 == 0 ? std::uint64_t{1} << 33 : 5;
    const std::uint64_t words[] = {i, ~std::uint64_t{i}};
    writer.event(i % 50 < 40 ? 42 : 43, clock, FKT_E_USER_PROBE, 2, words);
    written++;
    if (i % 1000 == 500) {
      clock += 10;
      writer.lost(42, clock, 7, clock - 5);
    }
  }
  writer.flush(clock);
  CHECK(writer.events() == written);
  CHECK(writer.lost_events() == 35);
  CHECK(writer.pages() == pages.size());
  std::uint64_t events = 0, seq = 0;
  for (const Kept& page : pages) {
    CHECK(page.bytes.size() == 4096);
    CHECK(page.header.seq == seq++);
    CHECK(page.header.cpu == 3);
    CHECK(page.header.checksum == fkt_page_checksum(&page.header));
    CHECK(page.header.used <= 4096);
    CHECK(page.header.first_clock <= page.header.end_clock);
    events += page.header.events;
  }
  CHECK(events == written);
}

TEST_CASE("a page that is handed over before it is full comes again with what it had, and more") {
  struct Kept {
    fkt_page_header header;
    std::vector<std::byte> words;  // in use
  };
  const auto written = [](unsigned save_every) {
    std::vector<Kept> all;
    PageWriter writer({77, 4096, 3}, [&](const fkt_page_header& header, ByteView page) {
      const ByteView words = page.first(header.used).subspan(header.header_bytes);
      CHECK(header.checksum == fkt_page_checksum(&header));
      CHECK(header.events_checksum == fkt_events_checksum(&header, words.data()));
      CHECK(std::ranges::all_of(page.subspan(header.used),
                                [](std::byte b) { return b == std::byte{}; }));
      all.push_back({header, {words.begin(), words.end()}});
    });
    std::uint64_t clock = kBegin;
    for (std::uint32_t i = 0; i < 3000; i++) {
      clock += i % 700 == 0 ? std::uint64_t{1} << 33 : 5;
      writer.event(42 + i % 2, clock, i % 3 ? FKT_E_USER_PROBE0 : FKT_E_DEFINE, 0, {});
      if (save_every != 0 && i % save_every == 0) {
        writer.save();
        writer.save();  // nothing new: not handed over
      }
    }
    writer.flush(clock);
    return all;
  };
  const std::vector<Kept> once = written(0);
  for (const unsigned save_every : {1U, 7U, 400U, 2999U}) {
    const std::vector<Kept> again = written(save_every);
    CHECK(again.size() > once.size());
    for (std::size_t i = 0, page = 0; i < again.size(); i++) {
      const Kept &part = again[i], &whole = once.at(page);
      REQUIRE(part.header.seq == whole.header.seq);
      CHECK(part.header.first_clock == whole.header.first_clock);
      CHECK(part.header.end_clock <= whole.header.end_clock);
      CHECK(part.header.events <= whole.header.events);
      REQUIRE(part.words.size() <= whole.words.size());
      CHECK(std::equal(part.words.begin(), part.words.end(), whole.words.begin()));
      if (i + 1 == again.size() || again[i + 1].header.seq != part.header.seq) {
        CHECK(part.header.events == whole.header.events);
        CHECK(part.words.size() == whole.words.size());
        page++;
        CHECK((i + 1 < again.size() || page == once.size()));
      } else {
        CHECK(again[i + 1].words.size() > part.words.size());
      }
    }
  }
}

TEST_CASE("what programs define gets numbers and lines of the catalogue") {
  EventNumbers numbers;
  const auto request = numbers.of("p\trequest\tbytes:u:1:0:32 path:str:2:0:0");
  REQUIRE(request);
  CHECK(request->lines ==
        "name\tuser\t1\trequest\nvalues\tuser\t1\t1\tbytes:u:1:0:32 path:str:2:0:0\n");
  CHECK(numbers.of("p\trequest\tbytes:u:1:0:32 path:str:2:0:0")->lines.empty());
  CHECK(numbers.of("p\trequest\tbytes:u:1:0:32")->number == 2);
  const auto begin = numbers.of("s\tload\ti:s:1:0:64"), end = numbers.of("s\tload\t");
  CHECK(begin->number == end->number);
  CHECK_FALSE(begin->plain);
  CHECK(numbers.of("s\tload\tother:s:1:0:64")->plain);
  CHECK(numbers.of("a\tjob one\tid:x:1:0:64")
            ->lines.find("async\tuser\t4\t4\tbegin\tjob_one\tid\t\n") != std::string::npos);
  // All of it makes a catalogue.
  std::string lines = Catalogue::builtin().to_lines();
  EventNumbers again;
  for (const char* text :
       {"p\ta\tx:u:1:0:32 y:s:1:32:32", "s\tb\tt:str:1:0:512 u:str:9:0:0", "z\tc\tid:x:1:0:64"}) {
    lines += again.of(text)->lines;
  }
  CHECK(Catalogue::parse(lines));
  for (const char* bad : {"", "p", "p\t", "q\tname\t", "pp\tname\t", "p\tna\x01me\t", "p\tname\tx",
                          "p\tname\tx:u:0:0:32", "p\tname\tx:u:1:5:32", "p\tname\tx:u:1:32:64",
                          "p\tname\tx:stack:1:0:64", "p\tname\tx:u:2000:0:64",
                          "p\tname\tx:u:1:0:32\n", "p\tname\t:u:1:0:32"}) {
    INFO(bad);
    CHECK_FALSE(numbers.of(bad));
  }
  CHECK_FALSE(numbers.of("p\t" + std::string(65, 'n') + "\t"));
  for (int i = 0; i < FKT_USER_EVENT_NUMBERS; i++)
    (void)again.of("p\tn" + std::to_string(i) + '\t');
  CHECK_FALSE(again.of("p\tone more\t"));
  CHECK(again.of("p\tn1\t"));
}
