// SPDX-License-Identifier: GPL-2.0-only
// The pages of a recording with events of whole calls, as they stand in the file.
#pragma once

#include <catch2/catch.hpp>
#include <vector>

#include "lib/read/recording.h"
#include "lib/read/split_walk.h"
#include "tests/unit/call_recording.h"

namespace fkt::test {

// The pages of a recording as they stand in the file, and how they are split.
struct RawPages {
  explicit RawPages(const Recording& trace, const Catalogue& in_file)
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

// Calls check(pages) for so many random recordings of each kind.
template <class Check>
void each_call_recording(unsigned seeds, Check check) {
  for (const auto kind :
       {CallRecording::Kind::whole, CallRecording::Kind::prompt, CallRecording::Kind::switches,
        CallRecording::Kind::gaps, CallRecording::Kind::held}) {
    for (unsigned seed = 1; seed <= seeds; seed++) {
      CAPTURE(kind, seed);
      CallRecording recording(seed, 1 + seed % 4, 1500, kind);
      const Result<Recording> trace = Recording::from_bytes(recording.finish(), "calls");
      REQUIRE(trace);
      RawPages raw(*trace, recording.catalogue());
      REQUIRE(raw.pages.size() > 2);
      check(raw);
    }
  }
}

}  // namespace fkt::test
