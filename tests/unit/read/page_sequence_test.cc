// SPDX-License-Identifier: GPL-2.0-only
// Tests what is found missing between a CPU's pages: missing pages, counted losses, damage.
#include <catch2/catch.hpp>

#include "lib/read/page_sequence.h"

using fkt::PageSequence;

TEST_CASE("pages that follow each other without a loss have no gap between them") {
  PageSequence pages;
  CHECK_FALSE(pages.has_page());
  for (std::uint64_t seq = 0; seq < 3; seq++) {
    const auto before = pages.begin({.seq = seq});
    CHECK_FALSE(before.gap);
    CHECK(before.count == 0);
  }
  CHECK(pages.has_page());
}

TEST_CASE("a missing page is a gap, and the counts of losses tell how many events are missing") {
  PageSequence pages;
  pages.begin({.seq = 0, .lost = 2});
  const auto missing = pages.begin({.seq = 2, .lost = 2});
  CHECK(missing.gap);
  CHECK(missing.count == 0);
  const auto counted = pages.begin({.seq = 3, .lost = 7});
  CHECK(counted.gap);
  CHECK(counted.count == 5);
}

TEST_CASE("before a CPU's first page nothing is lost; before another one it is not known") {
  PageSequence first, later, told;
  CHECK(first.begin({.seq = 0, .lost = 4}).count == 4);
  const auto before = later.begin({.seq = 9, .lost = 4});
  CHECK_FALSE(before.gap);
  CHECK(before.count == 0);
  told.lost_before(1);
  CHECK(told.begin({.seq = 9, .lost = 4}).count == 3);
}

TEST_CASE("a LOST word accounts for its gap, the page's header does not once more") {
  PageSequence pages;
  pages.begin({.seq = 0, .lost = 1});
  const PageSequence::Head next = {.seq = 1, .lost = 6, .lost_word = true};
  CHECK_FALSE(pages.before(next).gap);
  CHECK_FALSE(pages.begin(next).gap);
  CHECK(pages.lost_in(6) == 5);
  CHECK(pages.take_lost_word(6) == 5);
  CHECK(pages.take_lost_word(6) == 0);
  CHECK_FALSE(pages.begin({.seq = 2, .lost = 6}).gap);
}

TEST_CASE("what cannot be read is a gap before the next page, if a page was before it") {
  PageSequence pages;
  pages.skip();
  CHECK_FALSE(pages.hole());
  CHECK_FALSE(pages.begin({.seq = 1}).gap);
  pages.skip();
  CHECK(pages.hole());
  CHECK(pages.begin({.seq = 2}).gap);
  CHECK_FALSE(pages.hole());
  pages.comes_after(4);
  CHECK(pages.before({.seq = 6}).gap);
  CHECK_FALSE(pages.before({.seq = 5}).gap);
}
