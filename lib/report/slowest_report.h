// SPDX-License-Identifier: GPL-2.0-only
// The slowest spans as a table (fkt_print --slowest), and the time around them.
#pragma once

#include <string_view>
#include <vector>

#include "lib/analyse/search_passes.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"

namespace fkt {

struct SlowestTable {
  const std::vector<FoundSpan>& spans;
  std::string_view name;    // the name that the user asked for
  std::uint64_t start = 0;  // the zero of the times shown (ticks)
  const TimeFormat& time;

  // Writes a line per span: begin and end since `start`, duration, CPU, pid, task, name.
  void text(TextWriter& out) const;
  // Writes a JSON object per line: time, duration, cpu, pid, task, name.
  void json(TextWriter& out) const;
  // Writes the members of json() as CSV (RFC 4180) with a head line.
  void csv(TextWriter& out) const;
};

// Returns the intervals from `window` ticks before each span to `window` ticks after it, ascending;
// overlapping and adjacent ones are joined.
std::vector<Interval> surroundings(const std::vector<FoundSpan>& spans, std::uint64_t window);

}  // namespace fkt
