// SPDX-License-Identifier: GPL-2.0-only
// The pages of a recording with events of whole calls, as they stand in the file.
#pragma once

#include <catch2/catch.hpp>
#include <vector>

#include "lib/read/split_walk.h"
#include "lib/read/trace.h"

namespace fkt::test {

// The pages of a recording as they stand in the file, and how they are split.
struct RawPages {
  explicit RawPages(const Trace& trace, const Catalogue& in_file)
      : catalogue(in_file), rules(catalogue) {
    for (const PageRef& ref : trace.pages()) {
      const Result<PageBytes> bytes = trace.page_bytes(ref);
      REQUIRE(bytes);
      const Result<Page> page = check_page_bytes(bytes->bytes, ref.offset, trace.info().page_bytes,
                                                 trace.info().recording);
      REQUIRE(page);
      pages.push_back(*page);
    }
  }

  Catalogue catalogue;
  SplitRules rules;
  std::vector<Page> pages;
};

}  // namespace fkt::test
