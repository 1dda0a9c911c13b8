// SPDX-License-Identifier: GPL-2.0-only
// Checks that QuickSplitter makes the same events of a page as PageSplitter, or gives the page up.
#include <catch2/catch.hpp>
#include <deque>

#include "lib/read/quick_splitter.h"
#include "lib/read/recording.h"
#include "tests/unit/call_recording.h"
#include "tests/unit/read/raw_pages.h"

using namespace fkt;
using namespace fkt::test;

namespace {

using StrayEnd = PageSplitter::StrayEnd;

auto events_of(const Page& page, const WordTable& table) {
  using Fields = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t,
                            std::vector<std::uint64_t>>;
  std::vector<Fields> events;
  PageDecoder decoder(table, page);
  Event event;
  while (decoder.next(event) == PageDecoder::Step::event) {
    events.emplace_back(event.clock, event.id, event.arg, event.pid,
                        std::vector<std::uint64_t>(event.words.begin(), event.words.end()));
  }
  events.emplace_back(page.header.end_clock, 0, 0, page.header.pid, std::vector<std::uint64_t>{});
  return events;
}

// Finds the places at which a page can be cut in two.
struct Cuts {
  struct Cut {
    std::uint32_t at = 0, pid = 0;
    std::uint64_t clock = 0, before = 0;  // of the event there, and of the one before it (ticks)
  };
  struct Alone {
    Cuts* cuts;
    void put(std::uint64_t, std::uint64_t clock, std::uint64_t end, std::uint32_t at, bool) {
      cuts->add(at, clock, end);
    }
  };
  Alone alone() { return {this}; }
  static void take(const Alone&) {}
  void item(std::uint64_t clock, std::uint32_t at, bool) { add(at, clock, clock); }
  void call(const ToldCall&, const Event& event, std::uint32_t at, std::uint32_t) {
    add(at, event.clock, event.clock);
  }
  void runs(std::uint32_t now) { pid = now; }
  static void time() {}
  static bool enough() { return false; }
  void add(std::uint32_t at, std::uint64_t clock, std::uint64_t end) {
    list.push_back({at, pid, clock, last});
    last = end;
  }

  std::vector<Cut> list;
  std::uint32_t pid = 0;
  std::uint64_t last = 0;
};

// Cuts the pages into pieces with few events each, of which more are as usual.
void cut(RawPages& raw) {
  std::vector<Page> pieces;
  for (const Page& page : raw.pages) {
    Cuts cuts;
    walk_page(raw.rules, page, cuts);
    const std::size_t events = 3 + pieces.size() % 40;
    for (std::size_t i = 0; i < cuts.list.size(); i += events) {
      const bool is_last = i + events >= cuts.list.size();
      const std::uint32_t at = cuts.list[i].at;
      const std::size_t end = is_last ? page.words.size() : cuts.list[i + events].at;
      Page& piece = pieces.emplace_back(page);
      piece.words = page.words.subspan(at, end - at);
      piece.header.first_clock = cuts.list[i].clock;
      piece.header.end_clock = is_last ? cuts.last : cuts.list[i + events].before;
      piece.header.pid = cuts.list[i].pid;
    }
  }
  raw.pages = std::move(pieces);
}

// What the pages tell each other, as lib/read/split_pages.cc finds it but without a look at CPUs:
// each begin and end that has no place in its own page goes into the first page that has one.
struct RemadeFile {
  struct Page {
    std::vector<StrayEnd> given;
    std::vector<std::uint32_t> late, ended;
  };

  explicit RemadeFile(const RawPages& raw) : pages(raw.pages.size()) {
    PageSplitter splitter(raw.rules), other(raw.rules);
    for (std::size_t number = 0; number < raw.pages.size(); number++) {
      splitter.read(raw.pages[number]);
      for (const OutsideCall& call : splitter.outside()) give(raw, number, call, other);
    }
    for (Page& page : pages) {
      std::ranges::stable_sort(page.given, std::ranges::greater{}, &StrayEnd::clock);
    }
  }

  std::vector<Page> pages;

 private:
  void give(const RawPages& raw, std::size_t from, const OutsideCall& call, PageSplitter& other) {
    for (std::size_t number = 0; number < raw.pages.size(); number++) {
      const fkt::Page& page = raw.pages[number];
      const bool is_in = page.header.first_clock <= call.clock();
      if (number == from || !is_in || page.header.end_clock < call.clock()) continue;
      other.read(page);
      if (!other.has_place(call, nullptr)) continue;
      const Event event = raw.rules.event_at(raw.pages[from], call.at);
      const CallEvent& type = *raw.rules.calls.find(event.id);
      events.push_back(std::make_unique<MadeEvent>(call.is_end ? made_end(type, event)
                                                               : made_begin(type, event)));
      pages[number].given.push_back({call.clock(), events.back().get(), call.is_end});
      if (call.is_end) pages[from].ended.push_back(call.call);
      return;
    }
    if (!call.is_end) pages[from].late.push_back(call.call);
  }
  std::vector<std::unique_ptr<MadeEvent>> events;
};

struct Count {
  unsigned quick = 0, given_up = 0, with_given = 0;
};

void check_pages(const RawPages& raw, const RemadeFile& told, Count& count) {
  PageSplitter splitter(raw.rules);
  QuickSplitter quick(raw.rules);
  const WordTable table(raw.catalogue);
  for (std::size_t number = 0; number < raw.pages.size(); number++) {
    const Page& page = raw.pages[number];
    const auto& [given, late, ended] = told.pages[number];
    const std::optional<Page> split = quick.split(page, given, late, ended, 4096);
    count.given_up += !split;
    if (!split) continue;
    count.quick++;
    count.with_given += !given.empty();
    splitter.read(page);
    const Page expected = splitter.split(given, late, ended, 4096);
    CHECK(split->damage == expected.damage);
    CHECK(split->words_end == 4096 + split->words.size_bytes());
    REQUIRE(events_of(*split, table) == events_of(expected, table));
  }
}

}  // namespace

TEST_CASE("pages that are split while they are walked through once") {
  Count count;
  each_call_recording(40, [&](RawPages& raw) {
    check_pages(raw, RemadeFile(raw), count);
    cut(raw);
    check_pages(raw, RemadeFile(raw), count);
  });
  CAPTURE(count.quick, count.with_given, count.given_up);
  CHECK(count.quick > 500);
  CHECK(count.with_given > 100);
  CHECK(count.given_up > 100);
}

namespace {

// A page of random words: calls that need not nest, pairs, interrupts, threads that change with and
// without a switch, few ticks between events, so that there are many at one time, and sometimes
// about as many as a word's time has; and begins and ends of other pages' calls.
class RandomPage {
 public:
  RandomPage(std::mt19937& random, const SplitRules& rules) : random_(random) {
    page_.header.first_clock = page_.header.end_clock = clock_;
    page_.header.header_bytes = FKT_PAGE_HEADER_BYTES;
    page_.header.pid = 42;
    for (unsigned i = 2 + below(24); i > 0; i--) put_any();
    page_.header.end_clock = clock_;
    page_.words = words_;
    PageSplitter splitter(rules);
    splitter.read(page_);
    for (const OutsideCall& call : splitter.outside()) {
      if (below(8) == 0) (call.is_end ? ended_ : late_).push_back(call.call);
    }
    for (unsigned i = below(4); i > 0; i--) give(rules);
    std::ranges::stable_sort(given_, std::ranges::greater{}, &StrayEnd::clock);
  }
  const Page& page() const { return page_; }
  std::span<const StrayEnd> given() const { return given_; }
  std::span<const std::uint32_t> late() const { return late_; }
  std::span<const std::uint32_t> ended() const { return ended_; }

 private:
  unsigned below(unsigned limit) { return random_() % limit; }
  void pass() {
    constexpr std::uint64_t kWrap = std::uint64_t{1} << FKT_TIME_BITS;
    const std::uint64_t ticks = below(16) == 0 ? kWrap - 30 + below(60) : below(6);
    const std::uint64_t before = clock_;
    if (!words_.empty()) clock_ += ticks;
    if ((clock_ - before) >> FKT_TIME_BITS == 0) return;
    words_.push_back(
        fkt_word(clock_, FKT_W_TIME, static_cast<std::uint32_t>(clock_ >> FKT_TIME_BITS)));
  }
  void put(std::uint32_t id, std::uint32_t arg) { words_.push_back(fkt_word(clock_, id, arg)); }
  void put_any() {
    pass();
    switch (below(10)) {
      case 0:
        put(FKT_W_PID, 42 + below(2));
        return put(FKT_E_SYS_ENTRY, 1);
      case 1:
        return put(FKT_E_SWITCH_S, 42 + below(2));
      case 2: {
        const std::uint64_t ticks = below(10);
        put(FKT_P_SYSCALL + 1, fkt_pair_arg(ticks, 0));
        clock_ += ticks;
        return;
      }
      case 3:
        return put(below(2) == 0 ? FKT_E_VECTOR_ENTRY : FKT_E_VECTOR_EXIT, 0xec);
      case 4:
        put(FKT_E_FAULT_USER, 4);
        words_.insert(words_.end(), {below(100), below(100)});
        return;
      default:
        return call();
    }
  }
  void call() {
    const std::uint64_t before = below(below(3) == 0 ? 400 : 30), begin = clock_ - before;
    const std::uint64_t ticks = before - (below(3) == 0 ? random_() % (before + 1) : 0);
    if (below(4) != 0) {
      put(FKT_E_CALL, below(9));
      words_.push_back(fkt_call_word(begin, ticks));
    } else {
      put(FKT_E_CALL_LONG, below(9));
      words_.insert(words_.end(), {ticks, begin});
    }
  }
  void give(const SplitRules& rules) {
    const CallEvent& type = rules.calls[below(static_cast<unsigned>(rules.calls.size()))];
    const bool is_end = below(2) == 0;
    events_.push_back({is_end ? type.id : type.begin, below(9), {}});
    if (type.copies) return;
    const std::uint64_t length = clock_ - page_.header.first_clock;
    given_.push_back(
        {page_.header.first_clock + random_() % (length + 4), &events_.back(), is_end});
  }

  std::mt19937& random_;
  std::uint64_t clock_ = std::uint64_t{1} << 40;
  std::vector<std::uint64_t> words_;
  Page page_;
  std::vector<std::uint32_t> late_, ended_;
  std::deque<MadeEvent> events_;
  std::vector<StrayEnd> given_;
};

}  // namespace

TEST_CASE("pages of calls at random times, that are split while they are walked through once") {
  Catalogue catalogue = CallRecording::catalogue();
  const SplitRules rules(catalogue);
  const WordTable table(catalogue);
  PageSplitter splitter(rules);
  QuickSplitter quick(rules);
  std::mt19937 random(1);
  unsigned same = 0, with_ended = 0, given_up = 0;
  for (unsigned i = 0; i < 300'000; i++) {
    const RandomPage one(random, rules);
    const std::optional<Page> split =
        quick.split(one.page(), one.given(), one.late(), one.ended(), 0);
    given_up += !split;
    if (!split) continue;
    CAPTURE(i);
    splitter.read(one.page());
    const Page expected = splitter.split(one.given(), one.late(), one.ended(), 0);
    REQUIRE(events_of(*split, table) == events_of(expected, table));
    same++;
    with_ended += !one.ended().empty();
  }
  CAPTURE(same, with_ended, given_up);
  CHECK(same > 20'000);
  CHECK(with_ended > 400);
  CHECK(given_up > 20'000);
}

TEST_CASE("damaged pages that are split while they are walked through once") {
  CallRecording recording(7, 2, 1500, CallRecording::Kind::prompt);
  const Result<Recording> trace = Recording::from_bytes(recording.finish(), "calls");
  REQUIRE(trace);
  RawPages raw(*trace, recording.catalogue());
  cut(raw);
  const RemadeFile told(raw);
  Count count;
  std::mt19937 random(7);
  for (unsigned i = 0; i < 40; i++) {
    std::vector<std::vector<std::uint64_t>> damaged;
    const std::vector<Page> whole = raw.pages;
    for (Page& page : raw.pages) {
      std::vector<std::uint64_t>& words =
          damaged.emplace_back(page.words.begin(), page.words.end());
      words[random() % words.size()] ^= std::uint64_t{1} << random() % 64;
      page.words = words;
    }
    check_pages(raw, told, count);
    raw.pages = whole;
  }
  CAPTURE(count.quick, count.given_up);
  CHECK(count.quick > 500);
  CHECK(count.given_up > 500);
}
