// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/status/status_line.h"

#include <cstdio>

#include <fmt/core.h>

#include "cli/base/units.h"
#include "cli/fkt_record/start/engine_name.h"
#include "cli/fkt_record/status/self_load.h"

namespace fkt::record {
namespace {

// Makes the text "..., 0.4 % of what was recorded its own doing".
std::string own_text(const fkt_status& status) {
  const std::optional<double> share = self_percent(status);
  return share ? fmt::format(", {:.1f} % of what was recorded its own doing", *share) : "";
}

}  // namespace

void StatusLine::draw(const fkt_status& status, double seconds) {
  const double span = seconds - seconds_before_;
  const double rate = span > 0 ? static_cast<double>(status.events - events_before_) / span : 0;
  events_before_ = status.events;
  seconds_before_ = seconds;
  const std::string line =
      fmt::format("{:.1f} s  {} events/s  {}  {} of {} pages free  {} lost", seconds,
                  cli::with_commas(static_cast<std::uint64_t>(rate)),
                  cli::bytes_text(status.bytes_written), cli::with_commas(status.pages_free),
                  cli::with_commas(status.pages_total), cli::with_commas(status.lost));
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
  return fmt::format(" ({} pages came back from the file's page cache, {} stayed there)",
                     cli::with_commas(s.pages_back), cli::with_commas(s.pages_given));
}

std::string cost_line(const EndSummary& summary) {
  const fkt_status& s = summary.status;
  return fmt::format(
      "{} pages of {} bytes, drain: engine {}{}, {} cycles a page, {} wake-ups, {} bytes copied, "
      "{} extra pages, {} pages free at the lowest, {} events discarded, {} calls missed by "
      "kprobes, {} events whose clock had stepped back{}",
      cli::with_commas(s.pages_written), s.page_bytes, engine_name(s.engine), way_back(s),
      cli::with_commas(static_cast<std::uint64_t>(summary.drain_cycles_per_page)),
      cli::with_commas(s.wakeups), cli::with_commas(s.bytes_copied),
      cli::with_commas(s.pages_extra), cli::with_commas(s.lowest_free),
      cli::with_commas(s.discarded), cli::with_commas(s.missed), cli::with_commas(s.clock_back),
      own_text(s));
}

std::string end_line(const std::string& name, const EndSummary& summary) {
  const fkt_status& s = summary.status;
  const std::uint64_t in_file = s.events - s.discarded - s.overwritten;
  std::string line = fmt::format("{}: {} events, {}", name, cli::with_commas(in_file),
                                 cli::bytes_text(s.bytes_written));
  if (in_file > 0)
    line += fmt::format(", {:.1f} bytes/event",
                        static_cast<double>(s.bytes_written) / static_cast<double>(in_file));
  if (s.overwritten > 0)
    line += fmt::format(", {} older ones overwritten", cli::with_commas(s.overwritten));
  return line + fmt::format(", {} lost, drain {:.1f} % of CPU time", cli::with_commas(s.lost),
                            summary.drain_percent);
}

}  // namespace fkt::record
