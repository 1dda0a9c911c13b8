// SPDX-License-Identifier: GPL-2.0-only
// Tests that pages are read by their offsets, from plain files and from compressed groups, by one
// thread and by several at once.
#include "lib/read/page_source.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

#include "lib/read/page_group_index.h"
#include "tests/unit/read/page_area.h"

using namespace fkt;
using namespace fkt::test;

namespace {

constexpr std::uint32_t kPageBytes = AreaOfPages::kPageBytes;

PageSource grouped(const AreaOfPages& of) {
  auto groups = read_group_table(of.section(FKT_SEC_GROUPS), of.area());
  REQUIRE(groups);
  return {of.file, of.begin, kPageBytes, RecordingBuilder::kRecording, *groups};
}

}  // namespace

TEST_CASE("a page from a compressed group has the bytes of the plain page, at the same offset") {
  const AreaOfPages plain, packed(2);
  REQUIRE(plain.begin == packed.begin);
  const PageSource from_plain(plain.file, plain.begin, kPageBytes, RecordingBuilder::kRecording);
  const PageSource from_groups = grouped(packed);
  CHECK(from_plain.groups().empty());
  CHECK(from_groups.groups().size() == 3);
  CHECK(from_groups.groups_end() == plain.end);
  for (const std::uint64_t number : {4, 0, 3, 1, 2}) {
    const auto expected = from_plain.bytes(plain.page(number));
    const auto found = from_groups.bytes(plain.page(number));
    REQUIRE(expected);
    REQUIRE(found);
    CHECK(std::ranges::equal(expected->bytes, found->bytes));
    const Result<Page> page = from_groups.page(plain.page(number));
    REQUIRE(page);
    CHECK(page->offset == plain.page(number));
    CHECK(page->words.size() == 1);
  }
}

TEST_CASE("pages outlive the cache that unpacked them, and the source") {
  constexpr std::uint64_t kPages = 100;  // each in a group: more than the cache holds
  const AreaOfPages packed(1, kPages);
  std::vector<Page> pages;
  {
    const PageSource source = grouped(packed);
    for (std::uint64_t number = 0; number < kPages; number++) {
      pages.push_back(std::move(*source.page(packed.page(number))));
    }
    // What the cache has dropped is unpacked once more.
    for (const std::uint64_t number : {0, 50, 99}) CHECK(source.page(packed.page(number)));
  }
  for (std::uint64_t number = 0; number < kPages; number++) {
    REQUIRE(pages[number].words.size() == 1);
    CHECK(fkt_word_arg(pages[number].words[0]) == number);
  }
}

TEST_CASE("several threads get the same pages from groups") {
  const AreaOfPages packed(2);
  PageSource source = grouped(packed);
  source.remember(5);
  std::atomic<unsigned> right = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned seed = 0; seed < 4; seed++) {
      threads.emplace_back([&, seed] {
        for (std::uint64_t i = 0; i < 500; i++) {
          const std::uint64_t number = (seed + i * 3) % 5;
          const Result<Page> page = source.page(packed.page(number));
          right += page && page->header.first_clock == T + 100 * (number + 1);
        }
      });
    }
  }
  CHECK(right == 4 * 500);
}

TEST_CASE("a page that the file's end cuts off, and one of a group that is gone, are errors") {
  AreaOfPages plain;
  plain.file.resize(plain.page(4) + 100);
  const PageSource source(plain.file, plain.begin, kPageBytes, RecordingBuilder::kRecording);
  CHECK(source.bytes(plain.page(4))->bytes.size() == 100);
  CHECK(message_of(source.page(plain.page(4))).find("the file ends within it") !=
        std::string::npos);
  CHECK(message_of(source.page(plain.page(1000))).find("the file ends within it") !=
        std::string::npos);

  const AreaOfPages packed(2);
  std::vector<GroupRef> groups = grouped(packed).groups();
  groups.erase(groups.begin() + 1);
  const PageSource holed(packed.file, packed.begin, kPageBytes, RecordingBuilder::kRecording,
                         groups);
  CHECK(holed.page(packed.page(1)));
  CHECK(message_of(holed.page(packed.page(2))) == "pages 2 to 3: their group cannot be read");
  CHECK(message_of(holed.page(packed.page(3))) == "pages 2 to 3: their group cannot be read");
  CHECK(holed.page(packed.page(4)));
  CHECK(message_of(holed.page(packed.page(5))) ==
        "pages 5 to the last: their group cannot be read");
}

TEST_CASE("events are checked once if they are remembered, else each time; damage always shows") {
  AreaOfPages of;
  PageSource remembers(of.file, of.begin, kPageBytes, RecordingBuilder::kRecording);
  remembers.remember(5);
  const PageSource forgets(of.file, of.begin, kPageBytes, RecordingBuilder::kRecording);
  CHECK(remembers.page(of.page(0)));
  CHECK(forgets.page(of.page(0)));
  of.file[of.page(0) + FKT_PAGE_HEADER_BYTES] ^= std::byte{1};
  of.file[of.page(1) + FKT_PAGE_HEADER_BYTES] ^= std::byte{1};
  CHECK(remembers.page(of.page(0)));
  CHECK(message_of(forgets.page(of.page(0))).find("its events are damaged") != std::string::npos);
  for (int round = 0; round < 2; round++) {
    CHECK(message_of(remembers.page(of.page(1))).find("its events are damaged") !=
          std::string::npos);
  }
  CHECK(remembers.page_header(of.page(1)));
}
