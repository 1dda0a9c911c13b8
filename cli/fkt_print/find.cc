// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_print/find.h"

#include <fcntl.h>

#include "lib/clock.h"
#include "lib/file_writer.h"
#include "lib/os_error.h"
#include "lib/page_table.h"
#include "lib/slowest.h"
#include "lib/unique_fd.h"

namespace fkt::cli {
namespace {

constexpr std::string_view kWindow = "10ms";

Error about(const char* option, const Error& error) {
  return {error.code, std::string(option) + ": " + error.message};
}

Result<std::uint64_t> window_of(const Trace& trace, const PrintRequest& request) {
  const std::string text = request.window.value_or(std::string(kWindow));
  const auto window = fkt::parse_duration(text, trace.info().clocks.ticks_per_second());
  if (!window) return about("--window", window.error());
  return window;
}

// Only these stretches are shown from here on; the reading ends behind the last one.
void restrict_to(View& view, std::vector<Interval> parts, std::string what) {
  const std::uint64_t end = parts.empty() ? 0 : parts.back().to;
  view.parts = std::move(parts);
  view.around = std::move(what);
  view.to = view.to ? std::min(*view.to, end) : end;
}

Status find_around(const Trace& trace, PrintRequest& request, const Reading& reading) {
  const auto window = window_of(trace, request);
  if (!window) return window.error();
  View view = request.view;
  const auto choice = choose_event(trace, *request.around, reading);
  if (!choice) return about("--around", choice.error());
  view.where = *choice;
  Result<std::vector<Interval>> parts = around(trace, view, *window, reading);
  if (!parts) return about("--around", parts.error());
  if (parts->empty()) {
    return Error{ErrorCode::usage,
                 "--around: nothing in the recording is this: " + *request.around};
  }
  restrict_to(request.view, std::move(*parts), *request.around);
  return Done{};
}

Result<Found> find_slowest(const Trace& trace, PrintRequest& request, const Reading& reading) {
  const SlowestRequest& asked = *request.slowest;
  const auto spans = slowest(trace, request.view, asked.name, asked.most, reading);
  if (spans.empty()) {
    return Error{ErrorCode::usage,
                 "--slowest: no span \"" + asked.name + "\" was seen from entry to exit"};
  }
  const TimeFormat time(request.unit, trace.info().clocks.ticks_per_second());
  Writer out;
  const SlowestTable table{spans, asked.name, recording_start(trace.info()), time};
  if (request.json) {
    table.json(out);
  } else {
    table.text(out);
  }
  Found found{std::string(out.view()), !request.window};
  if (!request.window) return found;
  const auto window = window_of(trace, request);
  if (!window) return window.error();
  restrict_to(request.view, surroundings(spans, *window), "the slowest " + asked.name);
  if (!request.json) found.text += '\n';
  return found;
}

Status write_time_table(const Trace& trace, const PrintRequest& request) {
  Writer out;
  write_page_table(out, trace, TimeFormat(request.unit, trace.info().clocks.ticks_per_second()));
  const UniqueFd file(
      ::open(request.time_table.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) return os_failure(request.time_table);
  return write_all(file.get(), as_bytes(out.view()), request.time_table);
}

}  // namespace

Result<Found> find(const Trace& trace, PrintRequest& request, const Reading& reading) {
  if (!request.time_table.empty()) {
    const Status written = write_time_table(trace, request);
    if (!written) return written.error();
    if (request.time_table_only) return Found{{}, true};
  }
  if (request.where) {
    auto choice = choose(trace, *request.where, reading);
    if (!choice) return about("--where", choice.error());
    request.view.where = std::move(*choice);
  }
  if (request.around) {
    const Status around = find_around(trace, request, reading);
    if (!around) return around.error();
  }
  if (request.slowest) return find_slowest(trace, request, reading);
  return Found{};
}

}  // namespace fkt::cli
