// SPDX-License-Identifier: GPL-2.0-only
// The recording's buffers over time as text: fkt_bufstats' table, and fkt_print -b as in 2005.
#pragma once

#include "lib/buffer_use.h"
#include "lib/time_format.h"
#include "lib/writer.h"

namespace fkt {

// Lines of columns with tabs, one for each change; "-" is what is not known. A title that begins
// with "#" says what they are; times are since `start` (full stamp) in the format's unit.
void write_buffer_title(Writer& out, const TimeFormat& time);
void write_buffer_line(Writer& out, const BufferState& state, std::uint64_t start,
                       const TimeFormat& time);

struct BufferTable {
  const BufferColumns& columns;
  std::uint32_t page_bytes;
  std::uint64_t start;  // full stamp, the zero of the times
  TimeFormat time;

  // A row per cell, with the state at its end and the lowest number of free pages in it.
  void text(Writer& out) const;
  // {"unit", "page_bytes", "rows": [{"time", "filled", ...}]}; null is what is not known.
  void json(Writer& out) const;
  void csv(Writer& out) const;
};

}  // namespace fkt
