// SPDX-License-Identifier: GPL-2.0-only
// One event as the reader hands it on: a view into the mapped file.
#pragma once

#include <cstdint>
#include <span>

#include <fkt/events.h>
#include <fkt/wire.h>

namespace fkt {

// The id of the reader's own event where a gap begins. No word of a file has it.
inline constexpr std::uint16_t kGapBegins = 0;

struct Event {
  std::uint64_t clock = 0;  // full stamp (ticks of the recording's clock)
  std::uint32_t cpu = 0;
  std::uint32_t pid = 0;                   // the thread that ran when it was recorded; 0: idle
  std::uint16_t id = 0;                    // enum fkt_event_id, or FKT_W_LOST for a gap
  std::uint32_t arg = 0;                   // the 24-bit argument
  std::span<const std::uint64_t> words{};  // after the event word; see below
  std::uint64_t offset = 0;                // of the event word in the file (bytes)

  // A gap's begin or end, and no event of the recording.
  bool is_gap() const { return id == FKT_W_LOST || id == kGapBegins; }
  // The 24-bit argument read as a signed number (system calls' short returns).
  std::int64_t signed_arg() const {
    return static_cast<std::int32_t>(arg << (32 - FKT_ARG_BITS)) >> (32 - FKT_ARG_BITS);
  }
};

// The words stand in the mapped file, and are valid as long as the trace; a gap's only until the
// next event.
//
// A gap is handed on as two events, which are counted nowhere. One of id kGapBegins comes where the
// gap begins, or where the selection does if the gap began before it: between its time and the next
// event of its CPU anything may have happened there. One of id FKT_W_LOST comes where the gap ends;
// a gap that reaches beyond the selection, or up to the recording's end, has none. The words of
// both: words[0] is the number of events lost in this gap (already made a difference by the
// reader), words[1] the clock of the first one lost. Where pages are missing or damaged the reader
// hands on a gap too, from the last event before to the first moment after, with the number of
// events known to be lost in it, which may be 0. A number is also 0 where the file does not begin
// with the CPU's first page: what was lost before is not known then.

}  // namespace fkt
