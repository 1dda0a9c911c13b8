// SPDX-License-Identifier: GPL-2.0-only
// The status line of a running recording, and the summary printed at its end.
#pragma once

#include <string>

#include "cli/fkt_record/status/end_summary.h"

namespace fkt::record {

class StatusLine {
 public:
  // Draws the line over the previous one. seconds: time since the start.
  void draw(const fkt_status& status, double seconds);
  // Clears the line; must be called before anything else is printed.
  void wipe();

 private:
  bool shown_ = false;
  std::uint64_t events_before_ = 0;
  double seconds_before_ = 0;
};

// What writing cost: "31 pages of 16384 bytes, drain: engine direct, 9,876 cycles a page, ...".
std::string cost_line(const EndSummary& summary);

// The summary: "trace_file: 123,456 events, 1.0 MB, 8.1 bytes/event, 0 lost, drain 0.3 % of CPU
// time".
std::string end_line(const std::string& name, const EndSummary& summary);

}  // namespace fkt::record
