// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/page_decoder.h"

#include <catch2/catch.hpp>

#include "tests/unit/recording_builder.h"

using fkt::Event;
using fkt::PageDecoder;
using fkt::test::Bytes;
using fkt::test::RecordingBuilder;
using fkt::test::T;
using Decoded = fkt::PageDecoder::Step;

namespace {

// The first page of a builder's recording, and its events.
class OnePage {
 public:
  explicit OnePage(RecordingBuilder builder)
      : builder_(std::move(builder)), file_(builder_.finish(RecordingBuilder::Tail::none)) {}

  fkt::Result<fkt::Page> check() const {
    const std::uint64_t offset = builder_.pages_offset();
    return fkt::check_page_bytes(fkt::subview(file_, offset, 4096), offset, 4096,
                                 RecordingBuilder::kRecording);
  }
  std::string fault() const {
    const auto page = check();
    return page ? "" : page.error().message;
  }
  // Returns all events.
  std::vector<Event> decode(Decoded* last = nullptr) {
    const auto page = check();
    if (!page) FAIL(page.error().message);
    decoder_ = PageDecoder(table_, *page);
    std::vector<Event> events;
    Event event;
    Decoded step;
    while ((step = decoder_.next(event)) == Decoded::event || step == Decoded::gap) {
      events.push_back(event);
    }
    if (last) *last = step;
    return events;
  }
  std::string error() const { return decoder_.error().message; }

  fkt_page_header header() const {
    return RecordingBuilder::get<fkt_page_header>(file_, builder_.pages_offset());
  }
  void set_header(fkt_page_header header, bool sign = true) {
    RecordingBuilder::put(file_, builder_.pages_offset(), header);
    if (sign) RecordingBuilder::sign_page(file_, builder_.pages_offset());
  }
  void set_word(std::size_t number, std::uint64_t word, bool sign = true) {
    RecordingBuilder::put(file_, builder_.pages_offset() + sizeof(fkt_page_header) + 8 * number,
                          word);
    if (sign) RecordingBuilder::sign_page(file_, builder_.pages_offset());
  }
  // Converts the page to the older version, which has no checksum of its events.
  void make_unchecked() {
    fkt_page_header h = header();
    const std::uint64_t at = builder_.pages_offset();
    h.version = FKT_WIRE_VERSION_UNCHECKED;
    h.header_bytes = FKT_PAGE_HEADER_BYTES_UNCHECKED;
    std::copy_n(file_.begin() + static_cast<long>(at + sizeof h), h.used - sizeof h,
                file_.begin() + static_cast<long>(at + FKT_PAGE_HEADER_BYTES_UNCHECKED));
    h.used -= sizeof h - FKT_PAGE_HEADER_BYTES_UNCHECKED;
    h.checksum = fkt_page_checksum(&h);
    std::copy_n(reinterpret_cast<const std::byte*>(&h), FKT_PAGE_HEADER_BYTES_UNCHECKED,
                file_.begin() + static_cast<long>(at));
  }

 private:
  RecordingBuilder builder_;
  Bytes file_;
  fkt::WordTable table_{fkt::Catalogue::builtin()};
  PageDecoder decoder_;
};

RecordingBuilder three_events() {
  RecordingBuilder b;
  b.pid(2, 7);
  b.event(2, T + 1, FKT_E_SYS_ENTRY, 39);
  b.event(2, T + 2, FKT_E_FORK, 8, {0x00000007'00000008ULL});
  b.event(2, T + 3, FKT_E_SYS_EXIT, 8);
  return b;
}

}  // namespace

TEST_CASE("a pair is its begin and its end") {
  RecordingBuilder b;
  b.pid(2, 7);
  b.event(2, T + 1, FKT_P_SYSCALL + 39, fkt_pair_arg(300, -11));
  b.event(2, T + 1000, FKT_P_SYSCALL + 202, 0);  // its end is not in this word
  b.event(2, T + 2000, FKT_P_IRQ + 11, fkt_pair_arg(7, 1));
  b.event(2, T + 2008, FKT_P_SOFTIRQ + 3, fkt_pair_arg((1 << 18) - 1, 0));
  b.event(2, T + 1'000'000, FKT_E_SYS_EXIT, 8);
  OnePage page(std::move(b));
  Decoded last;
  const std::vector<Event> events = page.decode(&last);
  CHECK(last == Decoded::end);
  struct Expected {
    std::uint64_t clock;
    unsigned id, arg;
  };
  const Expected expected[] = {
      {1, FKT_E_SYS_ENTRY, 39},
      {301, FKT_E_SYS_EXIT, 0xfffff5},
      {1000, FKT_E_SYS_ENTRY, 202},
      {2000, FKT_E_IRQ_ENTRY, 11},
      {2007, FKT_E_IRQ_EXIT, 11 | 1 << 22},
      {2008, FKT_E_SOFTIRQ_ENTRY, 3},
      {2007 + (1 << 18), FKT_E_SOFTIRQ_EXIT, 3},
      {1'000'000, FKT_E_SYS_EXIT, 8},
  };
  REQUIRE(events.size() == std::size(expected));
  for (std::size_t i = 0; i < events.size(); ++i) {
    INFO(i);
    CHECK(events[i].clock == T + expected[i].clock);
    CHECK(events[i].id == expected[i].id);
    CHECK(events[i].arg == expected[i].arg);
    CHECK(events[i].pid == 7);
    CHECK(events[i].cpu == 2);
    CHECK(events[i].words.empty());
  }
}

TEST_CASE("a pair's argument holds every result and duration that it says it does") {
  for (int split = 0; split < 8; ++split) {
    const std::int64_t most = (std::int64_t{1} << (2 * split + 2)) - 1;
    const std::uint64_t ticks = (std::uint64_t{1} << FKT_PAIR_TICK_BITS(split)) - 1;
    for (const std::int64_t value : {most, -most - 1}) {
      const std::uint32_t arg = fkt_pair_arg(ticks, value);
      REQUIRE(arg != 0);
      CHECK(fkt_pair_ticks(arg) == ticks);
      CHECK(fkt_pair_value(arg) == value);
      CHECK(fkt_pair_arg(ticks + 1, value) == 0);
    }
  }
  CHECK(fkt_pair_arg(1, 1 << 16) == 0);
  CHECK(fkt_pair_arg(1, -(1 << 16) - 1) == 0);
  CHECK(fkt_pair_arg(1, std::int64_t{1} << 40) == 0);
  CHECK(fkt_pair_arg(0, 0) == 0);
  CHECK(fkt_pair_arg(1, 0) == 1);
}

TEST_CASE("a pair that ends behind its page is damage") {
  RecordingBuilder b;
  b.pid(2, 7);
  b.event(2, T + 1, FKT_P_SYSCALL + 39, fkt_pair_arg(300, 0));
  OnePage page(std::move(b));
  fkt_page_header h = page.header();
  CHECK(h.end_clock == T + 301);
  h.end_clock--;
  page.set_header(h);
  Decoded last;
  CHECK(page.decode(&last).empty());
  CHECK(last == Decoded::damaged);
}

TEST_CASE("events: clock, cpu, pid, id, argument, words, offset") {
  OnePage page(three_events());
  Decoded last;
  const std::vector<Event> events = page.decode(&last);
  CHECK(last == Decoded::end);
  REQUIRE(events.size() == 3);
  CHECK(events[0].clock == T + 1);
  CHECK(events[0].cpu == 2);
  CHECK(events[0].pid == 7);
  CHECK(events[0].id == FKT_E_SYS_ENTRY);
  CHECK(events[0].arg == 39);
  CHECK(events[0].words.empty());
  CHECK(events[1].words.size() == 1);
  CHECK(events[1].words[0] == 0x00000007'00000008ULL);
  CHECK(events[1].offset == events[0].offset + 8);
  CHECK(events[2].offset == events[1].offset + 16);
  CHECK(events[2].clock == T + 3);
}

TEST_CASE("the stamp's 28 bits wrap") {
  RecordingBuilder b;
  std::uint64_t clock = (1ULL << 40) - 5;
  std::vector<std::uint64_t> clocks;
  for (int i = 0; i < 40; ++i) {
    b.event(0, clock, FKT_E_NMI);
    clocks.push_back(clock);
    // The longest pause that needs no TIME word.
    clock += (1ULL << FKT_TIME_BITS) - 1 - static_cast<unsigned>(i);
  }
  OnePage page(std::move(b));
  CHECK((page.header().used - sizeof(fkt_page_header)) / 8 == 40);
  const std::vector<Event> events = page.decode();
  REQUIRE(events.size() == clocks.size());
  for (std::size_t i = 0; i < clocks.size(); ++i) CHECK(events[i].clock == clocks[i]);
}

TEST_CASE("TIME words bridge any pause") {
  RecordingBuilder b;
  std::uint64_t clock = T;
  std::vector<std::uint64_t> clocks;
  for (const int bits : {28, 29, 40, 51}) {
    for (const int offset : {-1, 0, 1}) {
      b.event(0, clock, FKT_E_NMI);
      clocks.push_back(clock);
      clock += (1ULL << bits) + static_cast<std::uint64_t>(offset);
    }
  }
  OnePage page(std::move(b));
  const std::vector<Event> events = page.decode();
  REQUIRE(events.size() == clocks.size());
  for (std::size_t i = 0; i < clocks.size(); ++i) CHECK(events[i].clock == clocks[i]);
}

TEST_CASE("who runs: the header, PID words, switches from the event after them on") {
  RecordingBuilder b;
  b.pid(0, 11).event(0, T, FKT_E_NMI);
  b.pid(0, 0x3fffff).event(0, T + 1, FKT_E_NMI);
  b.event(0, T + 2, FKT_E_SWITCH_D,
          13 | 1u << 22);  // the bits above the pid are not part of it
  b.event(0, T + 3, FKT_E_NMI);
  b.event(0, T + 4, FKT_E_WAKING, 14);
  b.event(0, T + 5, FKT_E_SWITCH_PREEMPT, 0).event(0, T + 6, FKT_E_NMI);
  std::vector<std::uint32_t> pids;
  for (const Event& e : OnePage(std::move(b)).decode()) pids.push_back(e.pid);
  CHECK(pids == std::vector<std::uint32_t>{11, 0x3fffff, 0x3fffff, 13, 13, 13, 0});
}

TEST_CASE("events of variable length, and none of their words taken for an event") {
  RecordingBuilder b;
  b.event(0, T, FKT_E_EXEC, 3 | FKT_VAR_CUT, {1, 0, 0});
  b.event(0, T + 1, FKT_E_EXEC, 0).event(0, T + 2, FKT_E_NMI);
  const std::vector<Event> events = OnePage(std::move(b)).decode();
  REQUIRE(events.size() == 3);
  CHECK(events[0].words.size() == 3);
  CHECK(events[1].words.empty());
}

TEST_CASE("a page header that is wrong says what is wrong") {
  OnePage page(three_events());
  CHECK(page.fault().empty());
  const fkt_page_header good = page.header();
  const auto fault = [&](auto change, bool sign = true) {
    fkt_page_header h = good;
    change(h);
    page.set_header(h, sign);
    const std::string text = page.fault();
    CHECK(text.starts_with("page at offset 0x"));
    return text.substr(text.find(": ") + 2);
  };
  using H = fkt_page_header;
  CHECK(fault([](H& h) { h.magic ^= 1; }) == "no page begins here");
  CHECK(fault([](H& h) { h.magic_inverse = 0; }) == "no page begins here");
  CHECK(fault([](H& h) { h.pid = 1; }, false) == "its header's checksum does not match");
  CHECK(fault([](H& h) { h.version = 3; }) == "its version is not known to this program");
  CHECK(fault([](H& h) { h.recording = 1; }) == "it belongs to another recording");
  CHECK(fault([](H& h) { h.page_bytes = 8192; }) == "its size is not the file's page size");
  CHECK(fault([](H& h) { h.cpu = fkt::kMaxCpus; }) == "its CPU number makes no sense");
  CHECK(fault([](H& h) { h.pid = FKT_PID_MASK + 1; }) == "its thread's number makes no sense");
  CHECK(fault([](H& h) { h.header_bytes = 88; }) == "its header's size makes no sense");
  CHECK(fault([](H& h) { h.header_bytes = 90; }) == "its header's size makes no sense");
  CHECK(fault([](H& h) { h.used = FKT_USED_OPEN; }) == "it was never closed");
  CHECK(fault([](H& h) { h.used = 4104; }) == "its used size makes no sense");
  CHECK(fault([](H& h) { h.used = 80; }) == "its used size makes no sense");
  CHECK(fault([](H& h) { h.used = 92; }) == "its used size makes no sense");
  CHECK(fault([](H& h) { h.commit = 8; }) == "it holds events that were never completed");
  CHECK(fault([](H& h) { h.end_clock = 0; }) == "it ends before it begins");
}

TEST_CASE("a changed word is found by the checksum of the page's events") {
  OnePage page(three_events());
  page.set_word(2, fkt_word(T + 2, FKT_E_FORK, 9), false);
  CHECK_THAT(page.fault(), Catch::EndsWith(" (cpu 2, 3 events): its events are damaged"));
}

TEST_CASE("a page of the older version is read, without a checksum of its events") {
  OnePage page(three_events());
  const std::vector<Event> now = page.decode();
  page.make_unchecked();
  CHECK(page.fault().empty());
  const std::vector<Event> then = page.decode();
  REQUIRE(then.size() == now.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    CHECK(then[i].clock == now[i].clock);
    CHECK(then[i].id == now[i].id);
  }
}

TEST_CASE("a header that grew is passed over") {
  OnePage page(three_events());
  fkt_page_header h = page.header();
  h.header_bytes += 8;  // skips the first event
  page.set_header(h);
  CHECK(page.decode().size() == 2);
}

TEST_CASE("damaged words end the page with offset and cause, after what was good") {
  OnePage page(three_events());
  Decoded last;
  SECTION("unknown id") {
    page.set_word(1, fkt_word(T + 2, 0x7bc, 0));
  }
  SECTION("zero word") {
    page.set_word(1, 0);
  }
  SECTION("longer than the page") {
    page.set_word(1, fkt_word(T + 2, FKT_E_EXEC, 1023));
  }
  SECTION("beyond the page's end") {
    page.set_word(1, fkt_word(T + 4, FKT_E_NMI, 0));
  }
  SECTION("before the event before it") {
    page.set_word(1, fkt_word(T, FKT_E_NMI, 0));
  }
  const std::vector<Event> events = page.decode(&last);
  CHECK(last == Decoded::damaged);
  CHECK(events.size() == 1);
  CHECK(page.error().find("(cpu 2): event at 0x") != std::string::npos);
}

TEST_CASE("an unknown event is named") {
  OnePage page(three_events());
  page.set_word(0, fkt_word(T + 1, 0x7bc, 0));
  Decoded last;
  CHECK(page.decode(&last).empty());
  CHECK(last == Decoded::damaged);
  CHECK(page.error().ends_with(": id 0x7bc is not in the file's catalogue"));
}

TEST_CASE("a full page is read to its last word, an empty one too") {
  RecordingBuilder b;
  const std::uint32_t room = (4096 - sizeof(fkt_page_header)) / 8;
  for (std::uint32_t i = 0; i < room; ++i) b.event(0, T + i, FKT_E_NMI, i);
  OnePage full(std::move(b));
  CHECK(full.header().used == 4096);
  CHECK(full.decode().back().arg == room - 1);

  OnePage empty(three_events());
  fkt_page_header h = empty.header();
  h.used = h.header_bytes;
  h.commit = 0;
  empty.set_header(h);
  CHECK(empty.decode().empty());
}
