// SPDX-License-Identifier: GPL-2.0-only
// Bursts: runs of events of one CPU and one thread that can be applied to the statistics in one
// step, because no event in the run affects anything outside of that CPU and thread.
// lib/scan/digest.h finds them, Analysis::apply() applies them.
#pragma once

#include <cstdint>
#include <span>

#include <fkt/wire.h>

#include "lib/analyse/span_observer.h"
#include "lib/analyse/span_types.h"
#include "lib/analyse/tasks.h"
#include "lib/format/event.h"

namespace fkt {

// A burst contains points, and spans that begin and end in it. In addition, in this order, it may
// contain at most: the end of a system call that was open before, the begin of a system call that
// stays open, and the switch to the next thread.
struct Burst {
  // A part of the burst between whose ends the thread neither enters nor leaves the calls that are
  // open around it.
  struct Part {
    // Self time (ticks) of interrupt and softirq spans with what is called in them, and of what is
    // called outside of them: in whatever is open around the part.
    std::uint64_t irq = 0, softirq = 0, called = 0;
    std::uint32_t first_loose = 0, end_loose = 0;  // positions in PageDigest::loose
  };

  std::uint64_t from = 0, to = 0;  // clocks of its first and last event (ticks)
  std::uint32_t pid = 0;
  std::uint32_t events = 0;
  std::uint32_t begin_word = 0, end_word = 0;  // position in the page, in words after the header
  std::uint32_t first_span = 0, end_span = 0;  // positions in PageDigest::spans
  std::uint32_t first_nested = 0, end_nested = 0;  // positions in PageDigest::nested
  std::uint32_t first_child = 0, end_child = 0;    // positions in PageDigest::children
  bool exits = false;                              // it ends a system call that was open before
  bool enters = false;                             // it begins a system call that stays open
  bool has_calls = false;   // has whole system calls, so the thread was in user mode between them
  bool has_called = false;  // has spans of kinds that nest where they are called, outside its own
                            // interrupts
  bool has_fault = false;   // has a user-mode page fault, perhaps while no span was open
  bool taken = false;       // applied as a whole; otherwise its events are added one by one
  SpanKind entry_kind = SpanKind::other;
  std::uint16_t leave = 0;         // id of the switch, its last event; 0: it has none
  std::uint32_t next = 0;          // pid that it switches to
  TypeIndex entry_type = kNoType;  // type of the call that stays open
  std::uint64_t entry_number = 0;  // number of the call that stays open
  // Clocks of the ended call's exit and of the open call's entry (ticks).
  std::uint64_t exit = 0, entry = 0;
  std::uint64_t calls = 0;  // self time of whole system calls with what is called in them (ticks)
  // The parts before the exit, between exit and entry, and after the entry.
  Part before{}, between{}, behind{};

  // The switch at its end. Precondition: leave != 0.
  Event last_event(std::uint32_t cpu) const {
    Event event;
    event.clock = to;
    event.cpu = cpu;
    event.pid = pid;
    event.id = leave;
    event.arg = next;
    return event;
  }
};

// A span that began and ended in a burst without another span in it.
struct SpanRecord {
  TypeIndex type = kNoType;
  std::uint32_t ticks = 0;
};
// A span that began and ended in a burst with other spans in it.
struct NestedRecord {
  TypeIndex type = kNoType;
  std::uint32_t ticks = 0, self = 0, sub = 0;  // sub: as SpanStats::sub
};

// The sum of the spans of one type that nested directly in a span of type `around`. In
// PageDigest::loose: in whatever span was open around a part of the burst.
struct ChildRecord {
  TypeIndex around = kNoType, type = kNoType;
  std::uint64_t count = 0, ticks = 0;
};

// A burst, with all that is needed to apply it.
struct BurstAt {
  const Burst& burst;
  std::uint32_t cpu;
  std::span<const ChildRecord> loose;  // PageDigest::loose of its page
  // Gets the charges outside the burst's whole calls, and the end of the call that was open before
  // it; nullptr: there is none.
  BurstObserver* observer;
  TaskIndex task = kNoTask;
  bool counts = false;  // in the statistics
};

}  // namespace fkt
