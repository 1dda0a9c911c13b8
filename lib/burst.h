// SPDX-License-Identifier: GPL-2.0-only
// Bursts: runs of events of one CPU and one thread that nothing outside of them needs to know
// one by one, and what a page holds of them. lib/digest.h finds them, Analysis::add() takes them.
#pragma once

#include <array>
#include <cstdint>

#include <fkt/wire.h>

#include "lib/records.h"
#include "lib/span_types.h"

namespace fkt {

// Points, and spans that began and ended there. Besides, at most, the end of a system call that was
// open before, behind it the begin of one that stays open, and the switch to the next thread.
struct Burst {
  // A part in which the thread did the same all the time, but for the spans that ended there.
  struct Part {
    std::uint64_t irq = 0, softirq = 0;            // ticks that were own time of these spans
    std::uint32_t first_loose = 0, end_loose = 0;  // PageDigest::loose
  };

  std::uint64_t from = 0, to = 0;  // its first and its last event (ticks)
  std::uint32_t pid = 0;
  std::uint32_t events = 0;
  std::uint32_t begin_word = 0, end_word = 0;      // in the page, after its header
  std::uint32_t first_span = 0, end_span = 0;      // PageDigest::spans
  std::uint32_t first_nested = 0, end_nested = 0;  // PageDigest::nested
  std::uint32_t first_child = 0, end_child = 0;    // PageDigest::children
  bool exits = false;                              // a call that was open before
  bool enters = false;                             // one that stays open
  bool has_calls = false;  // whole ones, so the thread was in user mode between
  bool has_fault = false;  // of user mode, maybe, where no span was open
  bool taken = false;      // as a whole; else event by event
  SpanKind entry_kind = SpanKind::other;
  std::uint16_t leave = 0;             // the id of the switch, its last event; 0: there is none
  std::uint32_t next = 0;              // whom it switches to
  TypeIndex entry_type = kNoType;      // of the call that stays open
  std::uint64_t entry_number = 0;      // its number
  std::uint64_t exit = 0, entry = 0;   // when they happened (ticks)
  std::uint64_t calls = 0;             // own time of whole calls (ticks)
  Part before{}, between{}, behind{};  // the exit; the two; the entry
};

// A span that began and ended in a burst, and in which no other did.
struct SpanRecord {
  TypeIndex type = kNoType;
  std::uint32_t ticks = 0;
};
// One in which others did.
struct NestedRecord {
  TypeIndex type = kNoType;
  std::uint32_t ticks = 0, own = 0;
};

// What nested directly in such a span; loose: in what else was open in a part of the burst.
struct ChildRecord {
  TypeIndex around = kNoType, type = kNoType;
  std::uint64_t count = 0, ticks = 0;
};

struct PageDigest {
  bool counted = false;  // the page's events count in the statistics: spans, children and `counts`
  Records<Burst> bursts{};  // in order
  Records<SpanRecord> spans{};
  Records<NestedRecord> nested{};
  Records<ChildRecord> children{}, loose{};
  // Words by id, those outside of bursts too; of a pair that is whole, by its own id.
  std::array<std::uint32_t, 1 << FKT_ID_BITS> counts{};

  // Empties it, and keeps its memory.
  void clear() {
    counted = false;
    bursts.clear();
    spans.clear();
    nested.clear();
    children.clear();
    loose.clear();
    counts.fill(0);
  }
  // Gives the lists' memory back: what is left is what its words count.
  void forget_bursts() {
    bursts = {};
    spans = {};
    nested = {};
    children = {};
    loose = {};
  }
  // That its lists take.
  std::size_t bytes() const {
    return bursts.bytes() + spans.bytes() + nested.bytes() + children.bytes() + loose.bytes();
  }
};

}  // namespace fkt
