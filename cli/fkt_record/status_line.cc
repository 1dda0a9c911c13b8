// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/status_line.h"

#include <cstdio>

#include "cli/base/units.h"
#include "cli/fkt_record/engine_name.h"
#include "cli/fkt_record/self_load.h"

namespace fkt::record {
namespace {

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// Makes the text "..., 0.4 % of what was recorded its own doing".
std::string own_text(const fkt_status& status) {
  const std::optional<double> share = self_percent(status);
  return share ? ", " + fixed(*share, 1) + " % of what was recorded its own doing" : "";
}

}  // namespace

void StatusLine::draw(const fkt_status& status, double seconds) {
  const double span = seconds - seconds_before_;
  const double rate = span > 0 ? static_cast<double>(status.events - events_before_) / span : 0;
  events_before_ = status.events;
  seconds_before_ = seconds;
  const std::string line =
      fixed(seconds, 1) + " s  " + cli::with_commas(static_cast<std::uint64_t>(rate)) +
      " events/s  " + cli::bytes_text(status.bytes_written) + "  " +
      cli::with_commas(status.pages_free) + " of " + cli::with_commas(status.pages_total) +
      " pages free  " + cli::with_commas(status.lost) + " lost";
  std::fprintf(stderr, "\r%s\033[K", line.c_str());
  shown_ = true;
}

void StatusLine::wipe() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

// For the engine checkin, which moves pages into the page cache: how many of them came back.
std::string way_back(const fkt_status& s) {
  if (s.engine != FKT_ENGINE_CHECKIN) return "";
  if (s.pages_back == 0) return " (every page stayed in the file's page cache)";
  return " (" + cli::with_commas(s.pages_back) + " pages came back from the file's page cache, " +
         cli::with_commas(s.pages_given) + " stayed there)";
}

std::string cost_line(const Summary& summary) {
  const fkt_status& s = summary.status;
  return cli::with_commas(s.pages_written) + " pages of " + std::to_string(s.page_bytes) +
         " bytes, drain: engine " + engine_name(s.engine) + way_back(s) + ", " +
         cli::with_commas(static_cast<std::uint64_t>(summary.drain_cycles_per_page)) +
         " cycles a page, " + cli::with_commas(s.wakeups) + " wake-ups, " +
         cli::with_commas(s.bytes_copied) + " bytes copied, " + cli::with_commas(s.pages_extra) +
         " extra pages, " + cli::with_commas(s.lowest_free) + " pages free at the lowest, " +
         cli::with_commas(s.discarded) + " events discarded, " + cli::with_commas(s.missed) +
         " calls missed by kprobes, " + cli::with_commas(s.clock_back) +
         " events whose clock had stepped back" + own_text(s);
}

std::string end_line(const std::string& name, const Summary& summary) {
  const fkt_status& s = summary.status;
  const std::uint64_t in_file = s.events - s.discarded - s.overwritten;
  std::string line =
      name + ": " + cli::with_commas(in_file) + " events, " + cli::bytes_text(s.bytes_written);
  if (in_file > 0) {
    line += ", " + fixed(static_cast<double>(s.bytes_written) / static_cast<double>(in_file), 1) +
            " bytes/event";
  }
  if (s.overwritten > 0) line += ", " + cli::with_commas(s.overwritten) + " older ones overwritten";
  return line + ", " + cli::with_commas(s.lost) + " lost, drain " +
         fixed(summary.drain_percent, 1) + " % of CPU time";
}

}  // namespace fkt::record
