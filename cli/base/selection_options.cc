// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/selection_options.h"

#include <algorithm>

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "lib/analyse/analysis.h"
#include "lib/analyse/find_processes.h"
#include "lib/base/suggest.h"
#include "lib/base/time_format.h"
#include "lib/format/clocks.h"
#include "lib/read/clock_events.h"

namespace fkt::cli {
namespace {

constexpr const char* kWindow = "10ms";

Result<unsigned> layer_of(const Catalogue& catalogue, const std::string& text) {
  if (const Layer* layer = catalogue.layer(text)) return layer->bit;
  std::vector<std::string> names;
  for (const Layer& layer : catalogue.layers()) {
    if (std::to_string(layer.bit) == text) return layer.bit;
    names.push_back(layer.name);
  }
  return usage("--layer: no layer \"" + text + "\"" + did_you_mean(text, names));
}

// Returns half a nanosecond in ticks: a time printed in whole nanoseconds is at most so far from
// the event's.
std::uint64_t ticks_of_same_ns(const RecordingInfo& info) {
  return static_cast<std::uint64_t>(info.clocks.ticks_per_second() / 2e9 + 0.499);
}

Status find_around(const Options& options, const Recording& recording, Selection& selection,
                   const Reading& reading) {
  const std::string& event = options.text("around");
  const auto window = FKT_TRY(window_of(options, recording));
  Selection events = selection;
  const auto filter = make_event_filter(recording, event, reading);
  if (!filter) return about("--around", filter.error());
  events.where = *filter;
  Result<std::vector<Interval>> parts = around(recording, events, window, reading);
  if (!parts) return about("--around", parts.error());
  if (parts->empty()) {
    return Error{ErrorCode::absent, "--around: nothing in the recording is this: " + event};
  }
  restrict_to(selection, std::move(*parts), event);
  return Done{};
}

}  // namespace

void add_selection_options(boost::program_options::options_description_easy_init section) {
  section(",s", value("PID"), "statistics only while this process (number or name) is alive")(
      "task", value("TASK"), "only what this process or task (number or name) did itself")(
      "cpu", value("N"), "only this CPU")("layer", value("L"),
                                          "only events of this layer (name or bit number)")(
      "from", value("T"), "from this time on: 1.5 (s), 250ms, 12000cycles, 14:03:22.5")(
      "to", value("T"), "up to this time")(
      "where", value("EXPR"), "only events like 'name ~ \"sys_*\" && duration > 1ms && cpu == 2'")(
      "around", value("EVENT"), "only what happened near this event: a name, or an expression")(
      "window", value("W"), "how near: so long before and after it (default 10ms)");
}

std::optional<std::string> selection_option(const Options& options) {
  for (const char* name :
       {"-s", "task", "cpu", "layer", "from", "to", "where", "around", "window"}) {
    if (options.has(name)) return options.shown(name);
  }
  return std::nullopt;
}

Result<std::uint64_t> parse_moment(std::string_view option, const std::string& text,
                                   const Recording& recording) {
  const bool is_wall_clock = text.find(':') != text.npos;
  const auto clock = parse_time(
      with_unit(text), is_wall_clock ? info_with_clock_events(recording) : recording.info(),
      recording_end(recording));
  if (!clock) return usage(std::string(option) + ": " + clock.error().message);
  if (!lacks_unit(text)) return clock;
  // Seconds as a table prints them: what it says of that very time belongs to the part.
  const std::uint64_t same = ticks_of_same_ns(recording.info());
  return option == "--to" ? *clock + same + 1 : *clock - std::min(*clock, same);
}

Result<TimeSpan> time_span(const Options& options, const Recording& recording) {
  const RecordingInfo& info = recording.info();
  const std::uint64_t zero = recording_start(info);
  const std::uint64_t begin = info.checkpoint ? info.checkpoint->from : zero;
  std::uint64_t end = recording_end(recording);
  if (info.checkpoint) end = std::min(end, info.slice_end());
  const auto at = [&](const char* option, std::uint64_t clock) {
    const TimeFormat seconds(TimeUnit::s, info.clocks.ticks_per_second());
    return Error{ErrorCode::absent, std::string(option) +
                                        (info.checkpoint ? ": the slice " : ": the recording ") +
                                        (clock == begin ? "begins at " : "ends at ") +
                                        seconds.text(clock - std::min(clock, zero)) + " s"};
  };
  TimeSpan span;
  for (const char* name : {"from", "to"}) {
    if (!options.has(name)) continue;
    const auto clock =
        FKT_TRY(parse_moment("--" + std::string(name), options.text(name), recording));
    (std::string_view(name) == "from" ? span.from : span.to) = clock;
  }
  if (span.from && *span.from > end) return at("--from", end);
  if (span.to && *span.to <= begin) return at("--to", begin);
  if (span.from && span.to && *span.from >= *span.to) return usage("--from: not before --to");
  return span;
}

Result<std::uint32_t> parse_pid(std::string_view option, std::string_view text) {
  const auto pid = FKT_TRY(parse_whole(option, text, 1, FKT_PID_MASK));
  return static_cast<std::uint32_t>(pid);
}

bool is_task_name(std::string_view text) {
  return text.find_first_not_of("0123456789") != text.npos;
}

Result<std::uint32_t> find_pid(std::string_view option, std::string_view text,
                               const Recording& recording) {
  constexpr std::size_t kListed = 8;
  if (!is_task_name(text)) return parse_pid(option, text);
  const NamedProcesses found = find_processes(recording, text, {});
  if (found.pids.size() == 1) return found.pids.front();
  const std::string name = std::string(option) + ": " + '"' + std::string(text) + '"';
  if (found.pids.empty()) {
    return Error{ErrorCode::absent,
                 name + ": no process in the recording" + did_you_mean(text, found.names)};
  }
  std::string all;
  for (std::size_t i = 0; i < std::min(kListed, found.pids.size()); i++) {
    all += (i == 0 ? "" : ", ") + std::to_string(found.pids[i]);
  }
  return usage(name + " is the name of " + std::to_string(found.pids.size()) +
               " processes: give a number: " + all + (found.pids.size() > kListed ? ", ..." : ""));
}

Status check_tasks_seen(const Analysis& analysis, const std::string& file) {
  const Selection& selection = analysis.selection();
  for (const auto& [pid, seen] : {std::pair{selection.stats_pid, analysis.stats_pid_seen()},
                                  std::pair{selection.dump_pid, analysis.dump_pid_seen()}}) {
    if (!seen) {
      return Error{ErrorCode::absent,
                   file + ": no process " + std::to_string(*pid) + " in the recording"};
    }
  }
  if (analysis.own_seen()) return Done{};
  const auto& [pid, name] = *selection.own;
  std::vector<std::string> names;
  for (TaskIndex task = 0; task < analysis.tasks().size(); task++) {
    names.emplace_back(analysis.tasks().name(task));
  }
  return Error{ErrorCode::absent,
               file + ": no task " + (pid != 0 ? std::to_string(pid) : '"' + name + '"') +
                   " in what was read" + (pid != 0 ? "" : did_you_mean(name, names))};
}

Result<Selection> selection_request(const Options& options, const char* needs_window) {
  Selection selection;
  if (options.has("task")) {
    const std::string& text = options.text("task");
    selection.own = TaskChoice{0, text};
    if (!is_task_name(text)) {
      const auto pid = FKT_TRY(parse_pid("--task", text));
      selection.own = TaskChoice{pid, text};
    }
  }
  if (options.has("-s") && !is_task_name(options.text("-s"))) {
    selection.stats_pid = FKT_TRY(parse_pid("-s", options.text("-s")));
  }
  const bool for_another = needs_window != nullptr && options.has(needs_window);
  if (options.has("window") && !options.has("around") && !for_another) {
    const std::string others = needs_window ? " or --" + std::string(needs_window) : "";
    return usage("--window: needs --around" + others);
  }
  return selection;
}

Status complete_selection(const Options& options, const Recording& recording,
                          Selection& selection) {
  const auto span = FKT_TRY(time_span(options, recording));
  selection.from = span.from;
  selection.to = span.to;
  if (options.has("-s") && !selection.stats_pid) {
    selection.stats_pid = FKT_TRY(find_pid("-s", options.text("-s"), recording));
  }
  if (options.has("layer")) {
    selection.layer = FKT_TRY(layer_of(recording.info().catalogue, options.text("layer")));
  }
  if (options.has("cpu")) {
    const auto cpu = parse_whole("--cpu", options.text("cpu"), 0, 0xffff);
    if (!cpu) return cpu.error();
    selection.cpu = static_cast<std::uint32_t>(*cpu);
    const bool known = std::any_of(recording.pages().begin(), recording.pages().end(),
                                   [&](const PageRef& page) { return page.cpu == *selection.cpu; });
    if (!known) {
      return Error{ErrorCode::absent,
                   "--cpu: nothing of cpu " + options.text("cpu") + " in the recording"};
    }
  }
  return Done{};
}

Status find_selected(const Options& options, const Recording& recording, Selection& selection,
                     const Reading& reading) {
  if (options.has("where")) {
    auto filter = make_filter(recording, options.text("where"), reading, options.has("dump"));
    if (!filter) return about("--where", filter.error());
    selection.where = std::move(*filter);
  }
  return options.has("around") ? find_around(options, recording, selection, reading)
                               : Status(Done{});
}

Result<std::uint64_t> window_of(const Options& options, const Recording& recording) {
  const std::string text = with_unit(options.has("window") ? options.text("window") : kWindow);
  const auto window = fkt::parse_duration(text, recording.info().clocks.ticks_per_second());
  if (!window) return about("--window", window.error());
  return window;
}

void restrict_to(Selection& selection, std::vector<Interval> parts, std::string what) {
  const std::uint64_t end = parts.empty() ? 0 : parts.back().to;
  selection.parts = std::move(parts);
  selection.around = std::move(what);
  selection.to = selection.to ? std::min(*selection.to, end) : end;
}

Error about(const char* option, const Error& error) {
  return {error.code, std::string(option) + ": " + error.message};
}

}  // namespace fkt::cli
