// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_print/prepare.h"

#include <unistd.h>

#include <algorithm>

#include "cli/base/options.h"
#include "cli/base/selection_options.h"
#include "cli/base/terminal.h"
#include "cli/base/text_file.h"
#include "lib/analyse/slow_call.h"
#include "lib/base/suggest.h"
#include "lib/format/clocks.h"
#include "lib/query/bound_expression.h"
#include "lib/report/buffer_table.h"
#include "lib/report/page_table.h"
#include "lib/report/slowest_report.h"
#include "lib/report/why_report.h"

namespace fkt::cli {
namespace {

constexpr std::size_t kWhyLines = 22;  // of a screen of 24

Error none_seen(const std::string& option, const std::string& name, const Recording& recording) {
  const std::vector<std::string> names = event_names(recording.info());
  const bool is_known = std::ranges::find(names, name) != names.end();
  return {ErrorCode::absent, option + ": no span \"" + name + "\" was seen from entry to exit" +
                                 (is_known ? "" : did_you_mean(name, names))};
}

Result<Prepared> prepare_slowest(const Options& options, const Recording& recording,
                                 PrintRequest& request, const Reading& reading) {
  const SlowestRequest& asked = *request.slowest;
  const auto spans = slowest(recording, request.selection, asked.name, asked.most, reading);
  if (spans.empty()) return none_seen("--slowest", asked.name, recording);
  const TimeFormat time(request.unit, recording.info().clocks.ticks_per_second());
  TextWriter out;
  const SlowestTable table{spans, asked.name, recording_start(recording.info()), time};
  if (request.json) {
    table.json(out);
  } else if (request.csv) {
    table.csv(out);
  } else {
    table.text(out);
  }
  Prepared prepared{std::string(out.view()), !options.has("window")};
  if (prepared.all) return prepared;
  const auto window = FKT_TRY(window_of(options, recording));
  restrict_to(request.selection, surroundings(spans, window), "the slowest " + asked.name);
  if (!request.json) prepared.text += '\n';
  return prepared;
}

// Writes a screen, or a line of JSON, for each of the slowest.
Result<Prepared> prepare_why(const Recording& recording, const PrintRequest& request,
                             const Reading& reading) {
  const SlowestRequest& asked = *request.why;
  const auto spans = slowest(recording, request.selection, asked.name, asked.most, reading);
  if (spans.empty()) return none_seen("--why", asked.name, recording);
  const TimeFormat time(request.unit, recording.info().clocks.ticks_per_second());
  const Terminal screen = terminal(STDOUT_FILENO);
  TextWriter out;
  out.set_columns(screen.width);
  for (const FoundSpan& span : spans) {
    const SlowCall call(recording, span, reading);
    const WhyReport report{call, time, kWhyLines};
    if (request.json) {
      report.json(out);
      continue;
    }
    if (out.size() > 0) out.put('\n');
    report.text(out);
  }
  return Prepared{out.take(), true};
}

Status write_time_table(const Recording& recording, const PrintRequest& request,
                        const TimeFormat& time) {
  auto file = FKT_TRY(TextFile::create(request.time_table));
  write_page_table(file.out(), recording, time);
  return file.flush(true);
}

Status write_buffer_table(const Recording& recording, const PrintRequest& request,
                          const TimeFormat& time, const Reading& reading) {
  auto file = FKT_TRY(TextFile::create(request.buffer_table));
  write_buffer_title(file.out(), time);
  const std::uint64_t start = recording_start(recording.info());
  Status written = Done{};
  const BufferSink sink = [&](const BufferState& state) {
    write_buffer_line(file.out(), state, start, time);
    if (written) written = file.flush();
  };
  const Status followed = follow_buffers(recording, sink, reading);
  if (written) written = file.flush(true);
  if (!written) return written;
  return followed ? Status(Done{}) : Status(about("-b", followed.error()));
}

Status write_tables(const Recording& recording, const PrintRequest& request,
                    const Reading& reading) {
  // Other programs read these files.
  const TimeUnit unit = request.unit == TimeUnit::readable ? TimeUnit::cycles : request.unit;
  const TimeFormat time(unit, recording.info().clocks.ticks_per_second());
  if (!request.time_table.empty()) {
    FKT_TRY(write_time_table(recording, request, time));
  }
  if (request.buffer_table.empty()) return Done{};
  return write_buffer_table(recording, request, time, reading);
}

}  // namespace

Result<Prepared> prepare(const Options& options, const Recording& recording, PrintRequest& request,
                         const Reading& reading) {
  FKT_TRY(write_tables(recording, request, reading));
  if (request.tables_only) return Prepared{{}, true};
  FKT_TRY(find_selected(options, recording, request.selection, reading));
  if (request.slowest) return prepare_slowest(options, recording, request, reading);
  if (request.why) return prepare_why(recording, request, reading);
  return Prepared{};
}

}  // namespace fkt::cli
