// SPDX-License-Identifier: GPL-2.0-only
// Puts events of user programs among the kernel's, and checks their places.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "lib/read/event_merge.h"
#include "lib/read/recording_data.h"
#include "lib/user/page_joiner.h"
#include "tests/unit/how_many.h"
#include "tests/unit/recording_builder.h"

using namespace fkt;
using namespace fkt::test;

namespace {

constexpr std::uint64_t kNearby = 100;

// CPU, clock, thread, id, argument.
using Item = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t>;

struct Joined {
  std::vector<Item> events;  // CPU by CPU
  std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>>
      gaps;  // count, from
  std::map<std::uint32_t, PageJoiner::Added> added;
  std::uint64_t without_place = 0;
};

// The pages of a recording made by RecordingBuilder.
struct Source {
  explicit Source(RecordingBuilder& builder)
      : trace(std::move(*Recording::from_bytes(builder.finish()))) {
    pages.emplace(trace.file(), 0, trace.info().page_bytes, RecordingBuilder::kRecording);
  }
  Recording trace;
  std::optional<PageSource> pages;
};

Joined join(RecordingBuilder& kernel, RecordingBuilder& user,
            std::uint64_t stop = ~std::uint64_t{0}) {
  const Source from_kernel(kernel), from_user(user);
  const WordTable table(Catalogue::builtin());
  std::map<std::uint32_t, std::vector<std::vector<std::byte>>> pages;
  PageJoiner joiner({RecordingBuilder::kRecording, 4096, stop, kNearby}, table,
                    [&](const fkt_page_header& header, ByteView page) {
                      pages[header.cpu].emplace_back(page.begin(), page.end());
                    });
  REQUIRE(joiner.join({*from_kernel.pages, from_kernel.trace.pages()},
                      {*from_user.pages, from_user.trace.pages()}));
  Joined out{{}, {}, joiner.added(), joiner.without_place()};
  for (const auto& [cpu, of_cpu] : pages) {
    CHECK(of_cpu.size() == out.added[cpu].pages);
    std::uint64_t last = 0, lost = 0;
    for (const auto& bytes : of_cpu) {
      const Result<Page> page = check_page_bytes(bytes, 0, 4096, RecordingBuilder::kRecording);
      REQUIRE(page);
      PageDecoder decoder(table, *page);
      Event event;
      for (;;) {
        const PageDecoder::Step step = decoder.next(event);
        REQUIRE(step != PageDecoder::Step::damaged);
        if (step == PageDecoder::Step::end) break;
        CHECK(event.clock >= last);
        last = event.clock;
        if (step == PageDecoder::Step::gap) {
          out.gaps[cpu].push_back({event.words[0] - lost, event.words[1]});
          lost = event.words[0];
        } else {
          out.events.push_back({cpu, event.clock, event.pid, event.id, event.arg});
        }
      }
    }
  }
  return out;
}

std::vector<Item> events_of(const Joined& joined, std::uint32_t id) {
  std::vector<Item> out;
  std::ranges::copy_if(joined.events, std::back_inserter(out),
                       [id](const Item& item) { return std::get<3>(item) == id; });
  return out;
}

}  // namespace

TEST_CASE("events of programs go to the CPU where their thread ran, at any order of switches") {
  for (unsigned seed = 0; seed < recordings(40); seed++) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    constexpr std::uint32_t kCpus = 3, kThreads = 6;
    RecordingBuilder kernel, user;
    std::vector<Item> expected;
    std::vector<std::uint32_t> on(kCpus, 0);
    for (std::uint32_t cpu = 0; cpu < kCpus; cpu++)
      kernel.pid(cpu, 0).event(cpu, T + cpu, FKT_E_NMI);
    for (std::uint32_t tid = 0; tid < kThreads; tid++) user.pid(10 + tid, 100 + tid);
    std::uint64_t clock = T + 10;
    for (int i = 0; i < 4000; i++) {
      // From time to time a word with all bits of the clock is needed.
      clock += random() % 500 == 0 ? std::uint64_t{1} << 30 : 1 + random() % 20;
      const std::uint32_t cpu = random() % kCpus;
      if (random() % 4 == 0) {
        const std::uint32_t next = random() % 3 == 0 ? 0 : 100 + random() % kThreads;
        if (next != 0 && std::ranges::find(on, next) != on.end()) continue;
        kernel.event(cpu, clock, FKT_E_SWITCH_S, next);
        expected.push_back({cpu, clock, on[cpu], FKT_E_SWITCH_S, next});
        on[cpu] = next;
      } else if (on[cpu] != 0 && random() % 3 > 0) {
        const std::uint32_t arg = random() % 1000;
        user.event(10 + on[cpu] - 100, clock, FKT_E_USER_BEGIN, arg);
        expected.push_back({cpu, clock, on[cpu], FKT_E_USER_BEGIN, arg});
      } else {
        kernel.event(cpu, clock, FKT_E_SYS_ENTRY, 39);
        expected.push_back({cpu, clock, on[cpu], FKT_E_SYS_ENTRY, 39});
      }
    }
    for (std::uint32_t cpu = 0; cpu < kCpus; cpu++)
      expected.push_back({cpu, T + cpu, 0, FKT_E_NMI, 0});
    std::ranges::sort(expected);
    Joined joined = join(kernel, user);
    std::ranges::sort(joined.events);
    CHECK(joined.events == expected);
    CHECK(joined.without_place == 0);
    CHECK(joined.gaps.empty());
  }
}

TEST_CASE("an event a little before its thread is switched in comes right after that") {
  RecordingBuilder kernel, user;
  kernel.pid(0, 0).event(0, T + 100, FKT_E_NMI);
  kernel.event(0, T + 500, FKT_E_SWITCH_S, 42).event(0, T + 600, FKT_E_SYS_ENTRY, 39);
  user.pid(7, 42).event(7, T + 480, FKT_E_USER_BEGIN, 5).event(7, T + 550, FKT_E_USER_END, 5);
  const Joined joined = join(kernel, user);
  CHECK(joined.events == std::vector<Item>{{0, T + 100, 0, FKT_E_NMI, 0},
                                           {0, T + 500, 0, FKT_E_SWITCH_S, 42},
                                           {0, T + 500, 42, FKT_E_USER_BEGIN, 5},
                                           {0, T + 550, 42, FKT_E_USER_END, 5},
                                           {0, T + 600, 42, FKT_E_SYS_ENTRY, 39}});
  CHECK(joined.added.at(0).events == 2);
}

TEST_CASE("where the kernel's events are missing, the thread's are lost with them, and counted") {
  RecordingBuilder kernel, user;
  kernel.pid(0, 0).event(0, T + 100, FKT_E_NMI);
  kernel.pid(0, 42).lost(0, T + 200, T + 5000, 3).event(0, T + 5000, FKT_E_SYS_ENTRY, 39);
  user.pid(7, 42);
  for (int i = 0; i < 10; i++) user.event(7, T + 1000 + i * 10, FKT_E_USER_BEGIN, 5);
  user.event(7, T + 5100, FKT_E_USER_END, 5);
  const Joined joined = join(kernel, user);
  CHECK(events_of(joined, FKT_E_USER_BEGIN).empty());
  CHECK(events_of(joined, FKT_E_USER_END).size() == 1);
  using Gaps = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  CHECK(joined.gaps.at(0) == Gaps{{3, T + 200}, {10, T + 5000}});
  CHECK(joined.added.at(0).lost == 10);
  CHECK(joined.added.at(0).events == 1);
}

TEST_CASE("what a thread's ring had no room for is a gap where the thread runs") {
  RecordingBuilder kernel, user;
  kernel.pid(1, 42).event(1, T + 100, FKT_E_SYS_EXIT, 0).event(1, T + 900, FKT_E_SYS_ENTRY, 39);
  user.pid(7, 42).event(7, T + 200, FKT_E_USER_BEGIN, 5);
  user.lost(7, T + 300, T + 400, 17).event(7, T + 400, FKT_E_USER_END, 5);
  const Joined joined = join(kernel, user);
  using Gaps = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  CHECK(joined.gaps.at(1) == Gaps{{17, T + 300}});
  CHECK(joined.added.at(1).lost == 17);
  CHECK(joined.events.size() == 4);
}

TEST_CASE("threads that never ran, events behind the end, definitions") {
  RecordingBuilder kernel, user;
  kernel.pid(0, 42).event(0, T + 100, FKT_E_SYS_EXIT, 0).event(0, T + 900, FKT_E_SYS_ENTRY, 39);
  user.pid(7, 42).event(7, T + 200, FKT_E_USER, 5).event(7, T + 2000, FKT_E_USER, 6);
  user.pid(8, 77).event(8, T + 300, FKT_E_USER, 7).event(8, T + 310, FKT_E_USER, 7);
  user.pid(9, 42).define(9, T + 150, "name\tuser\t5\tfive\n");
  const Joined joined = join(kernel, user, T + 1000);
  CHECK(events_of(joined, FKT_E_USER) == std::vector<Item>{{0, T + 200, 42, FKT_E_USER, 5}});
  CHECK(joined.without_place == 2);
  CHECK(joined.events.size() == 3);
}

TEST_CASE("a program cannot have the recorder hold events without end; all are counted") {
  constexpr std::uint32_t kMany = 400'000;
  RecordingBuilder kernel, user;
  kernel.pid(0, 0).event(0, T + 100, FKT_E_NMI).event(0, T + 3'000'000, FKT_E_SWITCH_S, 42);
  kernel.event(0, T + 3'000'100, FKT_E_SYS_ENTRY, 39);
  user.pid(7, 42).pid(8, 77);
  for (std::uint32_t i = 0; i < kMany; i++) {
    user.event(7, T + 200 + i, FKT_E_USER_PROBE1, 1, {i}).event(8, T + 200 + i, FKT_E_USER, 1);
  }
  const Joined joined = join(kernel, user);
  CHECK(joined.added.at(0).lost == kMany);
  CHECK(joined.added.at(0).events == 0);
  CHECK(joined.without_place == kMany);
}

TEST_CASE("a page that cannot be read ends the joining with an error") {
  RecordingBuilder kernel, user;
  kernel.pid(0, 42).event(0, T + 100, FKT_E_SYS_EXIT, 0);
  user.pid(7, 42).event(7, T + 200, FKT_E_USER, 5);
  const Source from_kernel(kernel), from_user(user);
  const WordTable table(Catalogue::builtin());
  PageJoiner joiner({RecordingBuilder::kRecording, 4096, ~std::uint64_t{0}, kNearby}, table,
                    [](const fkt_page_header&, ByteView) {});
  std::vector<PageRef> refs = from_user.trace.pages();
  refs[0].offset += 8;
  CHECK_FALSE(
      joiner.join({*from_kernel.pages, from_kernel.trace.pages()}, {*from_user.pages, refs}));
}

namespace {

// All events of a recording in the order of their CPUs, and what is wrong with it.
std::pair<std::vector<Item>, Integrity> read_unfinished(const Bytes& bytes) {
  const Result<Recording> trace = Recording::from_bytes(bytes);
  REQUIRE(trace);
  std::vector<Item> items;
  for (const Event& event : trace->events())
    items.push_back({event.cpu, event.clock, event.pid, event.id, event.arg});
  std::ranges::sort(items);
  return {items, trace->integrity()};
}

// The file of a recorder that is killed while it joins: `kernel` without its tail, and joined
// pages.
struct Joining {
  Bytes head, kernel_pages, joined_pages;

  Joining(RecordingBuilder& kernel, RecordingBuilder& user) {
    const Bytes file = kernel.finish(RecordingBuilder::Tail::none);
    fkt_file_header header;
    std::memcpy(&header, file.data(), sizeof header);
    head.assign(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(header.pages_offset));
    kernel_pages.assign(file.begin() + static_cast<std::ptrdiff_t>(header.pages_offset),
                        file.end());
    const Source from_kernel(kernel), from_user(user);
    const WordTable table(Catalogue::builtin());
    PageJoiner joiner({RecordingBuilder::kRecording, 4096, ~std::uint64_t{0}, kNearby}, table,
                      [&](const fkt_page_header&, ByteView page) {
                        joined_pages.insert(joined_pages.end(), page.begin(), page.end());
                      });
    REQUIRE(joiner.join({*from_kernel.pages, from_kernel.trace.pages()},
                        {*from_user.pages, from_user.trace.pages()}));
  }

  // `bytes` of the joined pages are behind the kernel's.
  Bytes appended(std::size_t bytes) const {
    Bytes file = head;
    file.insert(file.end(), kernel_pages.begin(), kernel_pages.end());
    file.insert(file.end(), joined_pages.begin(),
                joined_pages.begin() + static_cast<std::ptrdiff_t>(bytes));
    return file;
  }
  // All are, and the first `bytes` have been moved to the begin.
  Bytes moved(std::size_t bytes) const {
    Bytes file = appended(joined_pages.size());
    std::copy_n(joined_pages.begin(), bytes,
                file.begin() + static_cast<std::ptrdiff_t>(head.size()));
    return file;
  }
  // A file system could remove the kernel's pages.
  Bytes collapsed() const {
    Bytes file = head;
    file.insert(file.end(), joined_pages.begin(), joined_pages.end());
    return file;
  }
};

}  // namespace

TEST_CASE("a recorder that is killed while it joins leaves each event once") {
  RecordingBuilder kernel, user;
  std::uint64_t clock = T;
  user.pid(7, 42);
  for (int i = 0; i < 3000; i++, clock += 10) {
    kernel.event(0, clock, FKT_E_SWITCH_S, 42).event(1, clock, FKT_E_SYS_ENTRY, 39);
    for (int n = 0; n < i % 5; n++) user.event(7, clock + 1 + n, FKT_E_USER_BEGIN, n);
    kernel.event(0, clock + 7, FKT_E_SWITCH_S, 0);
  }
  const Joining joining(kernel, user);
  const auto [before, whole_before] = read_unfinished(joining.appended(0));
  const auto [after, whole_after] = read_unfinished(joining.collapsed());
  const std::size_t size = joining.joined_pages.size();
  REQUIRE(size > joining.kernel_pages.size());
  REQUIRE(joining.kernel_pages.size() >= 6 * 4096);
  CHECK(before.size() == 9000);
  CHECK(after.size() == 15000);
  CHECK_FALSE(whole_before.joined);
  CHECK(whole_after.joined);
  // Written in pieces of any size; memory is written a page at a time.
  const auto check = [](const auto& file, const auto& expected, bool is_joined) {
    const auto [events, integrity] = read_unfinished(file);
    CHECK(events == expected);
    CHECK(integrity.joined == is_joined);
    CHECK(integrity.damaged_pages == 0);
    CHECK(integrity.missing_pages == 0);
  };
  for (std::size_t bytes = 0; bytes <= size; bytes += 1024) {
    INFO(bytes << " bytes of " << size << " are appended");
    check(joining.appended(bytes), before, false);
  }
  for (std::size_t bytes = 1024; bytes <= size; bytes += 1024) {
    INFO(bytes << " bytes of " << size << " are moved");
    check(joining.moved(bytes), after, true);
  }
}
