// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_extract/slice.h"

#include <algorithm>

#include <fmt/core.h>

#include "cli/base/messages.h"
#include "cli/base/selection_options.h"
#include "cli/base/units.h"
#include "lib/format/clocks.h"
#include "lib/slice/slice_writer.h"

namespace fkt::cli {
namespace {

constexpr std::size_t kMostStretches = 1000;

Result<std::vector<std::uint64_t>> clocks(const Options& options, const Recording& recording,
                                          const char* name) {
  std::vector<std::uint64_t> found;
  for (const std::string& text : options.texts(name)) {
    found.push_back(FKT_TRY(parse_moment("--" + std::string(name), text, recording)));
  }
  return found;
}

// Pairs the first --from with the first --to, the second with the second, and so on. A single one
// without its counterpart extends to the end or start of the recording.
Result<std::vector<Interval>> by_time(const Options& options, const Recording& recording) {
  const auto from = FKT_TRY(clocks(options, recording, "from"));
  const auto to = FKT_TRY(clocks(options, recording, "to"));
  const std::size_t most = std::max<std::size_t>({from.size(), to.size(), 1});
  if (most > 1 && from.size() != to.size()) {
    return usage("--from, --to: several stretches need as many of the one as of the other");
  }
  std::vector<Interval> stretches;
  for (std::size_t i = 0; i < most; i++) {
    const Interval stretch{i < from.size() ? from[i] : 0, i < to.size() ? to[i] : kForever};
    if (stretch.from >= stretch.to) {
      const std::string which =
          most == 1 ? "" : " (" + options.texts("from")[i] + ", " + options.texts("to")[i] + ")";
      return Error{ErrorCode::absent,
                   "--from, --to" + which + ": nothing of the recording is between them"};
    }
    stretches.push_back(stretch);
  }
  return stretches;
}

// Parses "3-7", or "3" for one page; returns the time span of these pages.
Result<Interval> page_range(std::string_view text, const Recording& recording) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  const std::uint64_t last_page = recording.pages().size() - 1;
  const auto first = parse_whole("--pages", text.substr(0, dash), 0, last_page);
  if (!first) return first.error();
  const std::string_view behind = text.substr(std::min(dash + 1, text.size()));
  const auto last =
      FKT_TRY(dash == text.size() ? first : parse_whole("--pages", behind, *first, last_page));
  Interval slice{kForever, 0};
  for (std::uint64_t i = *first; i <= last; i++) {
    slice.from = std::min(slice.from, recording.pages()[i].first_clock);
    slice.to = std::max(slice.to, recording.pages()[i].end_clock + 1);
  }
  return slice;
}

// Parses a list such as "3-7,12-14".
Result<std::vector<Interval>> by_pages(const Options& options, const Recording& recording) {
  if (recording.pages().empty()) return Error{ErrorCode::absent, "--pages: the recording has none"};
  const std::string& text = options.text("pages");
  std::vector<Interval> stretches;
  for (std::string_view rest = text;;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const auto stretch = FKT_TRY(page_range(rest.substr(0, comma), recording));
    stretches.push_back(stretch);
    if (comma == rest.size()) return stretches;
    rest.remove_prefix(comma + 1);
  }
}

// Narrows each interval to the span from the first to the last event that the selection selects.
Result<std::vector<Interval>> by_events(const Recording& recording,
                                        const std::vector<Interval>& stretches, Selection selection,
                                        const Reading& reading, const char* option,
                                        const std::string& text) {
  std::vector<Interval> found;
  for (const Interval& stretch : stretches) {
    selection.from = stretch.from;
    selection.to = stretch.to;
    if (const auto part = extent(recording, selection, reading)) found.push_back(*part);
  }
  if (!found.empty()) return found;
  return Error{ErrorCode::absent,
               std::string(option) + ": nothing in the recording is this: " + text};
}

Result<std::vector<Interval>> by_where(const Options& options, const Recording& recording,
                                       const std::vector<Interval>& stretches,
                                       const Reading& reading) {
  const std::string& text = options.text("where");
  auto filter = make_filter(recording, text, reading);
  if (!filter) return about("--where", filter.error());
  Selection selection;
  selection.where = std::move(*filter);
  return by_events(recording, stretches, selection, reading, "--where", text);
}

Result<std::vector<Interval>> by_task(const Options& options, const Recording& recording,
                                      const std::vector<Interval>& stretches,
                                      const Reading& reading) {
  const std::string& text = options.text("task");
  Selection selection;
  if (is_task_name(text)) {
    selection.own = TaskChoice{0, text};
  } else {
    const auto pid = FKT_TRY(parse_pid("--task", text));
    selection.own = TaskChoice{pid, text};
  }
  return by_events(recording, stretches, selection, reading, "--task", text);
}

Status widen(const Options& options, const Recording& recording, std::vector<Interval>& stretches) {
  if (!options.has("context")) return Done{};
  const auto context = fkt::parse_duration(with_unit(options.text("context")),
                                           recording.info().clocks.ticks_per_second());
  if (!context) return about("--context", context.error());
  for (Interval& stretch : stretches) {
    stretch.from -= std::min(stretch.from, *context);
    stretch.to += std::min(~stretch.to, *context);
  }
  return Done{};
}

}  // namespace

Result<std::vector<Interval>> slice_of(const Options& options, const Recording& recording,
                                       const Reading& reading) {
  const int ways = options.has("pages") + options.has("where") + options.has("task");
  if (ways > 1) return usage("--pages, --where, --task: only one of the three");
  if (ways == 0 && !options.has("from") && !options.has("to")) {
    return usage("which slice? --from and --to, --pages, --where or --task say it (see --help)");
  }
  auto wanted = FKT_TRY(by_time(options, recording));
  std::vector<Interval> stretches = stretches_in(recording, wanted);
  if (stretches.empty()) {
    return Error{ErrorCode::absent, "--from, --to: nothing of the recording is between them"};
  }
  Result<std::vector<Interval>> slice = stretches;
  if (options.has("pages")) slice = by_pages(options, recording);
  if (options.has("where")) slice = by_where(options, recording, stretches, reading);
  if (options.has("task")) slice = by_task(options, recording, stretches, reading);
  if (!slice) return slice;
  FKT_TRY(widen(options, recording, *slice));
  stretches = stretches_in(recording, std::move(*slice));
  if (stretches.empty()) {
    return Error{ErrorCode::absent, "nothing of the recording is in this slice"};
  }
  if (stretches.size() <= kMostStretches) return stretches;
  return usage(fmt::format("a slice has at most {} stretches", kMostStretches));
}

}  // namespace fkt::cli
