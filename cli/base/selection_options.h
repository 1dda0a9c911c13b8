// SPDX-License-Identifier: GPL-2.0-only
// The options of fkt_print and fkt_kd that select a part of a recording, and their evaluation.
#pragma once

#include <string>
#include <vector>

#include "cli/base/options.h"
#include "lib/analyse/analysis.h"
#include "lib/analyse/search_passes.h"
#include "lib/analyse/selection.h"
#include "lib/read/recording.h"

namespace fkt::cli {

// Adds -s, --task, --cpu, --layer, --from, --to, --where, --around and --window to a section of the
// help.
void add_selection_options(boost::program_options::options_description_easy_init section);
// Returns the first of these options that was given, as the user typed it; nothing if none was
// given.
std::optional<std::string> selection_option(const Options& options);

// Returns the values of --from and --to as clock values in ticks; nothing where the option was not
// given. Returns an error if no part of the recording lies between them.
struct TimeSpan {
  std::optional<std::uint64_t> from, to;
};
Result<TimeSpan> time_span(const Options& options, const Recording& recording);

// Returns true if the text is to be taken for the name of a task: it is no number.
bool is_task_name(std::string_view text);
// Parses the pid of a process or the tid of a thread.
Result<std::uint32_t> parse_pid(std::string_view option, std::string_view text);
// As parse_pid(), or finds the process of that name in the recording, which must be the only one.
Result<std::uint32_t> find_pid(std::string_view option, std::string_view text,
                               const Recording& recording);
// Returns an error if a process or task that the selection names was not seen in the whole
// recording, which was read. file: its name.
Status check_tasks_seen(const Analysis& analysis, const std::string& file);

// Evaluates the options that do not need the recording. needs_window: another option that --window
// applies to.
Result<Selection> selection_request(const Options& options, const char* needs_window = nullptr);
// Parses a moment of the recording as typed with `option`: since its start, or by the clock on the
// wall, for which all pages are read (ticks).
Result<std::uint64_t> parse_moment(std::string_view option, const std::string& text,
                                   const Recording& recording);
// Evaluates the options that refer to the recording: times, CPUs, layers.
Status complete_selection(const Options& options, const Recording& recording, Selection& selection);
// Evaluates --where and --around, which each read the recording once to find their events.
Status find_selected(const Options& options, const Recording& recording, Selection& selection,
                     const Reading& reading);

// Returns the value of --window in ticks.
Result<std::uint64_t> window_of(const Options& options, const Recording& recording);
// Restricts the selection to these intervals; reading stops behind the last one. `what` describes
// them in messages.
void restrict_to(Selection& selection, std::vector<Interval> parts, std::string what);

// Prefixes the message of an error with the option's name.
Error about(const char* option, const Error& error);

}  // namespace fkt::cli
