// SPDX-License-Identifier: GPL-2.0-only
// The recording's page buffers over time as text: the table of fkt_bufstats, and the lines of
// fkt_print -b.
#pragma once

#include "lib/analyse/buffer_use.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"

namespace fkt {

// Writes a line with tab-separated columns for each change; "-" stands for an unknown number. The
// title line begins with "#" and names the columns. Times are since `start` (full stamp, ticks), in
// the unit of `time`.
void write_buffer_title(TextWriter& out, const TimeFormat& time);
void write_buffer_line(TextWriter& out, const BufferState& state, std::uint64_t start,
                       const TimeFormat& time);

struct BufferTable {
  const BufferColumns& columns;
  std::uint32_t page_bytes;
  std::uint64_t start;  // full stamp (ticks), zero of the times
  TimeFormat time;

  // One row per cell, with the state at its end and the lowest number of free pages in it.
  void text(TextWriter& out) const;
  // {"unit", "page_bytes", "rows": [{"time", "filled", ...}]}; an unknown number is null.
  void json(TextWriter& out) const;
  void csv(TextWriter& out) const;
};

}  // namespace fkt
