// SPDX-License-Identifier: GPL-2.0-only
// The slowest spans as a table (fkt_print --slowest), and where to look around them.
#pragma once

#include <string_view>
#include <vector>

#include "lib/find.h"
#include "lib/time_format.h"
#include "lib/writer.h"

namespace fkt {

struct SlowestTable {
  const std::vector<FoundSpan>& spans;
  std::string_view name;    // as it was asked for
  std::uint64_t start = 0;  // the zero of the times shown (ticks)
  const TimeFormat& time;

  // A line a span: since the recording's start from and to, duration, CPU, pid, task, name.
  void text(Writer& out) const;
  // One object a line: time, duration, cpu, pid, task, name.
  void json(Writer& out) const;
  // The same as CSV (RFC 4180) with a head line.
  void csv(Writer& out) const;
};

// The stretches from `window` before each span to `window` behind it (ticks), ascending; those that
// touch are one.
std::vector<Interval> surroundings(const std::vector<FoundSpan>& spans, std::uint64_t window);

}  // namespace fkt
