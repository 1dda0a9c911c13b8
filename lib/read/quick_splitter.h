// SPDX-License-Identifier: GPL-2.0-only
// QuickSplitter: splits a page (lib/read/page_splitter.h) while it walks through it once, without a
// list of what is in it. It copies words and puts begins and ends between them. It gives up a page
// in which something is not as usual, for example a call whose end comes before the event that
// precedes its own; PageSplitter has a rule for each such case. Nearly all pages are as usual.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lib/base/raw_vector.h"
#include "lib/read/page_splitter.h"

namespace fkt {

class QuickSplitter {
 public:
  explicit QuickSplitter(const SplitRules& rules) : rules_(rules) {}

  // Returns the split page: its events are those that PageSplitter::split() returns for the same
  // arguments. Returns nullopt for a page that only PageSplitter can split. Equal arguments give
  // equal words, so the position of a word stays valid when the page is split again.
  std::optional<Page> split(const Page& page, std::span<const PageSplitter::StrayEnd> given,
                            std::span<const std::uint32_t> late,
                            std::span<const std::uint32_t> ended, std::uint64_t place);

 private:
  class Walker;

  // A thread runs from this position in the split page on, up to the next run's.
  struct Run {
    std::uint32_t first, pid;
  };
  struct Memory {
    RawVector<std::uint64_t> ends{};
    RawVector<Run> runs{};
  };

  const SplitRules& rules_;
  Memory memory_;  // for Walker
};

}  // namespace fkt
