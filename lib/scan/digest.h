// SPDX-License-Identifier: GPL-2.0-only
// Digesting a page: finds the bursts of events in the page that need not be read one by one, and
// collects what they add to the statistics.
//
// A page is digested without knowledge of earlier pages and other CPUs, so pages can be digested in
// any order and by several threads. Events that depend on such knowledge are not part of a burst:
// forks and other changes of tasks, the first event of a page, ends of interrupts that were open
// before the page, and begins of interrupts that stay open. lib/scan/scan.h reads these events one
// by one, and applies each burst between them in one step.
#pragma once

#include <array>
#include <cstdint>

#include "lib/analyse/burst.h"
#include "lib/base/raw_vector.h"
#include "lib/read/page_decoder.h"
#include "lib/scan/digest_rules.h"
#include "lib/scan/shared_type_table.h"

namespace fkt {

struct PageDigest {
  // True if the page's events count: then spans, nested, children and counts are added to the
  // statistics.
  bool counted = false;
  RawVector<Burst> bursts{};  // in time order
  RawVector<SpanRecord> spans{};
  RawVector<NestedRecord> nested{};
  RawVector<ChildRecord> children{}, loose{};
  // Number of words by id, also of those outside of bursts. A whole pair counts under the id of its
  // word.
  std::array<std::uint32_t, 1 << FKT_ID_BITS> counts{};

  // Empties the digest, but keeps its memory for the next page.
  void clear() {
    counted = false;
    bursts.clear();
    spans.clear();
    nested.clear();
    children.clear();
    loose.clear();
    counts.fill(0);
  }
  // Frees the lists and keeps only `counts`.
  void forget_bursts() {
    bursts = {};
    spans = {};
    nested = {};
    children = {};
    loose = {};
  }
  // Returns the memory that the lists take (bytes).
  std::size_t bytes() const {
    return bursts.bytes() + spans.bytes() + nested.bytes() + children.bytes() + loose.bytes();
  }
};

// Fills `out`, which must be empty, from the page up to its end or its first damaged word. counted:
// the page's events count in the statistics; if false, only bursts and their parts are collected.
void digest(const Page& page, const DigestRules& rules, const SharedTypeTable& types, bool counted,
            PageDigest& out);

}  // namespace fkt
