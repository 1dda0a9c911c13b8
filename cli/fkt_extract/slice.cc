// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_extract/slice.h"

#include <algorithm>

#include "lib/clock.h"

namespace fkt::cli {
namespace {

Error about(const char* option, const Error& error) {
  return {error.code, std::string(option) + ": " + error.message};
}

// All of the recording, or of the slice that it is.
Interval whole(const Trace& trace) {
  if (const std::optional<Cut>& cut = trace.info().cut) return {cut->from, cut->to};
  const std::uint64_t start = recording_start(trace.info());
  return {start, std::max(start, recording_end(trace)) + 1};
}

Result<Interval> by_time(const Options& options, const Trace& trace, Interval slice) {
  const auto clock = [&](const char* name) {
    return parse_time(options.text(name), trace.info(), recording_end(trace));
  };
  if (options.has("from")) {
    const auto from = clock("from");
    if (!from) return about("--from", from.error());
    slice.from = std::max(slice.from, *from);
  }
  if (options.has("to")) {
    const auto to = clock("to");
    if (!to) return about("--to", to.error());
    slice.to = std::min(slice.to, *to);
  }
  if (slice.from >= slice.to)
    return usage("--from, --to: nothing of the recording is between them");
  return slice;
}

// "3-7", or "3" for one.
Result<Interval> by_pages(std::string_view text, const Trace& trace) {
  if (trace.pages().empty()) return usage("--pages: the recording has none");
  const std::size_t dash = std::min(text.find('-'), text.size());
  const std::uint64_t last_page = trace.pages().size() - 1;
  const auto first = parse_whole("--pages", text.substr(0, dash), 0, last_page);
  if (!first) return first.error();
  const std::string_view behind = text.substr(std::min(dash + 1, text.size()));
  const auto last = dash == text.size() ? first : parse_whole("--pages", behind, *first, last_page);
  if (!last) return last.error();
  Interval slice{~std::uint64_t{0}, 0};
  for (std::uint64_t i = *first; i <= *last; i++) {
    slice.from = std::min(slice.from, trace.pages()[i].first_clock);
    slice.to = std::max(slice.to, trace.pages()[i].end_clock + 1);
  }
  return slice;
}

// From the first to the last event that the view shows.
Result<Interval> by_events(const Trace& trace, const View& view, const Reading& reading,
                           const char* option, const std::string& text) {
  const std::optional<Interval> found = extent(trace, view, reading);
  if (found) return *found;
  return usage(std::string(option) + ": nothing in the recording is this: " + text);
}

Result<Interval> by_where(const Options& options, const Trace& trace, View view,
                          const Reading& reading) {
  const std::string& text = options.text("where");
  auto choice = choose(trace, text, reading);
  if (!choice) return about("--where", choice.error());
  view.where = std::move(*choice);
  return by_events(trace, view, reading, "--where", text);
}

Result<Interval> by_task(const Options& options, const Trace& trace, View view,
                         const Reading& reading) {
  const std::string& text = options.text("task");
  const auto pid = parse_whole("--task", text, 1, FKT_PID_MASK);
  if (!pid) return pid.error();
  view.dump_pid = static_cast<std::uint32_t>(*pid);
  view.dump_only = true;
  return by_events(trace, view, reading, "--task", text);
}

Result<Interval> widened(const Options& options, const Trace& trace, Interval slice) {
  if (!options.has("context")) return slice;
  const auto context =
      fkt::parse_duration(options.text("context"), trace.info().clocks.ticks_per_second());
  if (!context) return about("--context", context.error());
  slice.from -= std::min(slice.from, *context);
  slice.to += std::min(~slice.to, *context);
  return slice;
}

}  // namespace

Result<Interval> slice_of(const Options& options, const Trace& trace, const Reading& reading) {
  const int ways = options.has("pages") + options.has("where") + options.has("task");
  if (ways > 1) return usage("--pages, --where, --task: only one of the three");
  if (ways == 0 && !options.has("from") && !options.has("to")) {
    return usage("which slice? --from and --to, --pages, --where or --task say it (see --help)");
  }
  const Interval all = whole(trace);
  Result<Interval> slice = by_time(options, trace, all);
  if (!slice) return slice;
  View view;
  view.from = slice->from;
  view.to = slice->to;
  if (options.has("pages")) slice = by_pages(options.text("pages"), trace);
  if (options.has("where")) slice = by_where(options, trace, view, reading);
  if (options.has("task")) slice = by_task(options, trace, view, reading);
  if (slice) slice = widened(options, trace, *slice);
  if (!slice) return slice;
  const Interval cut{std::max(slice->from, all.from), std::min(slice->to, all.to)};
  if (cut.from >= cut.to) return usage("nothing of the recording is in this slice");
  return cut;
}

}  // namespace fkt::cli
