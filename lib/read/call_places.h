// SPDX-License-Identifier: GPL-2.0-only
// Which calls of a page have their begin or their end in another page, and whether a page has a
// place for one. Same results as those of lib/read/page_splitter.h in a third of the time, because
// the page's contents are not kept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/read/page_splitter.h"

namespace fkt {

class CallPlaces {
 public:
  explicit CallPlaces(const SplitRules& rules) : rules_(rules), splitter_(rules) {}

  // Returns PageSplitter::outside() of the page; valid until the next call.
  std::span<const OutsideCall> outside(const Page& page);

  struct Query {
    const OutsideCall* call = nullptr;
    std::uint32_t number = 0;  // the caller's own
    bool has_place = false;    // the answer
  };
  // Sets for each query whether its call has a place in the page; next: as in
  // PageSplitter::has_place(). Changes the order of the queries.
  void answer(const Page& page, const fkt_page_header* next, std::span<Query> queries);

 private:
  struct Run;
  class Walked;
  class Finder;
  class Answerer;

  const SplitRules& rules_;
  std::vector<OutsideCall> outside_;
  PageSplitter splitter_;  // for pages that have to be read entirely
};

}  // namespace fkt
