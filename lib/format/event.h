// SPDX-License-Identifier: GPL-2.0-only
// One event as the reader returns it: a view into the mapped file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <fkt/events.h>
#include <fkt/wire.h>

namespace fkt {

// Id of the event that the reader inserts where a gap begins. No word in a file has this id.
inline constexpr std::uint16_t kGapBegins = 0;

// Ids of the events that a reader makes of events of whole calls (lib/format/call_events.h), so
// many of each. No catalogue in a file has them.
inline constexpr std::uint16_t kMadeBegins = 0x7c0;
inline constexpr std::uint16_t kMadeLateBegins = 0x7d0;
inline constexpr std::uint16_t kMadeLateEnds = 0x7e0;
inline constexpr std::size_t kMostCallEvents = 16;
// Returns true for a made begin.
constexpr bool is_made_begin(std::uint16_t id) {
  return (id & ~0x1f) == kMadeBegins;
}

// Returns whether the event is a switch, whatever state the previous task is left in.
constexpr bool is_switch(std::uint16_t id) {
  return id >= FKT_E_SWITCH_R && id <= FKT_E_SWITCH_PREEMPT;
}

struct Event {
  std::uint64_t clock = 0;  // full stamp (ticks of the recording's clock)
  std::uint32_t cpu = 0;
  std::uint32_t pid = 0;                   // the thread that ran when it was recorded; 0: idle
  std::uint16_t id = 0;                    // enum fkt_event_id, or FKT_W_LOST for a gap
  std::uint32_t arg = 0;                   // the 24-bit argument
  std::span<const std::uint64_t> words{};  // words after the event word; see below
  std::uint64_t offset = 0;                // offset of the event word in the file (bytes)

  // Returns true for the begin and the end of a gap, which are no recorded events.
  bool is_gap() const { return id == FKT_W_LOST || id == kGapBegins; }
  // Returns whether it counts as an event. Of the two that are made of a call's event, only the end
  // does.
  bool counts() const { return !is_gap() && !is_made_begin(id); }
};

// The words are in the mapped file and valid as long as the recording; those of a gap are valid
// only until the next event.
//
// The reader reports a gap as two events, which no statistics count. An event with id kGapBegins is
// where the gap begins, or where the selection begins if that is later: what happened between it
// and the next event of its CPU is unknown. An event with id FKT_W_LOST is where the gap ends; a
// gap that extends beyond the selection or to the recording's end has none. The words of both:
// words[0] is the number of events lost in this gap (the reader computes it from the totals in the
// file), words[1] the clock of the first lost event. For missing or damaged pages the reader
// reports a gap as well, from the last event before them to the first moment after them, with the
// number of events known to be lost in it, which may be 0. The number is also 0 if the file does
// not begin with the CPU's first page: the losses before it are unknown.

}  // namespace fkt
