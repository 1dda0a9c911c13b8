// SPDX-License-Identifier: GPL-2.0-only
// Which part of a recording: the options that fkt_print and fkt_kd share, and what they mean.
#pragma once

#include <string>
#include <vector>

#include "cli/common.h"
#include "lib/find.h"
#include "lib/select.h"
#include "lib/trace.h"

namespace fkt::cli {

// -s, --cpu, --layer, --from, --to, --where, --around and --window, to a section of the help.
void add_view_options(boost::program_options::options_description_easy_init section);
// The first of these options that was given, as the user typed it; nothing: none was.
std::optional<std::string> view_option(const Options& options);

// --from and --to as full stamps; nothing: not given. An error where nothing of the recording is
// between them, which says why.
struct TimeSpan {
  std::optional<std::uint64_t> from, to;
};
Result<TimeSpan> time_span(const Options& options, const Trace& trace);

// A process's or thread's number.
Result<std::uint32_t> parse_pid(std::string_view option, std::string_view text);

// What does not need the file. needs_window: another option that --window is for.
Result<View> view_request(const Options& options, const char* needs_window = nullptr);
// What is said in terms of the file: times, CPUs, layers.
Status complete_view(const Options& options, const Trace& trace, View& view);
// What passes of their own find: --where and --around.
Status find_view(const Options& options, const Trace& trace, View& view, const Reading& reading);

// --window, in ticks.
Result<std::uint64_t> window_of(const Options& options, const Trace& trace);
// Only these stretches are shown from here on; the reading ends behind the last one.
void restrict_to(View& view, std::vector<Interval> parts, std::string what);

// Events in the file, as its index says: what a Reading counts up to.
std::uint64_t events_of(const Trace& trace);

// The error with the option in front.
Error about(const char* option, const Error& error);

}  // namespace fkt::cli
