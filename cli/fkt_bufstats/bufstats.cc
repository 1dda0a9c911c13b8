// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_bufstats/bufstats.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "cli/base/damage.h"
#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "cli/base/progress.h"
#include "cli/base/selection_options.h"
#include "cli/base/text_file.h"
#include "cli/base/units.h"
#include "lib/analyse/analysis.h"
#include "lib/base/mapped_file.h"
#include "lib/format/clocks.h"
#include "lib/picture/buffer_picture.h"
#include "lib/report/buffer_table.h"

namespace fkt::cli {
namespace {

constexpr std::uint32_t kRows = 20;
constexpr std::uint32_t kPictureColumns = 1000;

enum class Form { text, json, csv, svg };

struct Request {
  std::string file = "trace_file";
  std::string output;  // empty: standard output
  Form form = Form::text;
  TimeUnit unit = TimeUnit::s;
  std::uint32_t rows = kRows;
};

void add_options(Options& options) {
  auto add = options.section("How it is shown (default: a table)");
  add("svg", "as a picture");
  add("text", "as a table");
  add("json", "as JSON");
  add("csv", "as CSV");
  add(",o", value("OUT"),
      "into this file, - for standard output; one that ends in .svg, .json or .csv is written "
      "as such");
  add(",n", value("N"), "a row for each Nth part of the time (default 20)");
  add("time", value("UNIT"), "times in cycles, ns, us, ms or s (default: s; JSON and CSV: us)");
  add = options.section("Which part");
  add("from", value("T"), "from this time on: 1.5 (s), 250ms, 14:03:22.5");
  add("to", value("T"), "up to this time");
  options.positional("FILE", 1);
}

Status choose_form(const Options& options, Request& r) {
  constexpr std::pair<const char*, Form> kForms[] = {
      {"text", Form::text}, {"json", Form::json}, {"csv", Form::csv}, {"svg", Form::svg}};
  const char* chosen = nullptr;
  for (const auto& [name, form] : kForms) {
    if (!options.has(name)) continue;
    if (chosen != nullptr) {
      return usage("--" + std::string(chosen) + " and --" + name + ": only one of the two");
    }
    chosen = name;
    r.form = form;
  }
  if (options.has("-o")) r.output = options.text("-o");
  if (chosen != nullptr) return Done{};
  const std::string ending = std::filesystem::path(r.output).extension().string();
  if (ending.empty() || ending == ".txt") return Done{};
  for (const auto& [name, form] : kForms) {
    if (ending != '.' + std::string(name)) continue;
    r.form = form;
    return Done{};
  }
  return usage("-o: " + r.output + ": nothing is written as " + ending +
               "; use .txt, .svg, .json or .csv, or say --text");
}

Result<Request> request_of(const Options& options) {
  Request r;
  if (!options.arguments().empty()) r.file = options.arguments()[0];
  FKT_TRY(choose_form(options, r));
  if (options.has("-n")) {
    if (r.form == Form::svg) return usage("-n: not for a picture");
    const auto rows = FKT_TRY(parse_whole("-n", options.text("-n"), 1, 1'000'000));
    r.rows = static_cast<std::uint32_t>(rows);
  }
  if (r.form == Form::svg) r.rows = kPictureColumns;
  if (r.form == Form::json || r.form == Form::csv) r.unit = TimeUnit::us;
  if (options.has("time")) {
    r.unit = FKT_TRY(parse_unit(options.text("time")));
  }
  return r;
}

// The end of the last page in ticks: the drain empties the buffers after the stop, which is shown
// too. In a slice, the end of the slice.
std::uint64_t last_page_end(const Recording& recording) {
  std::uint64_t end = recording_end(recording);
  if (recording.info().checkpoint) return end;
  for (const PageRef& page : recording.pages()) end = std::max(end, page.end_clock);
  return end;
}

Result<TimeScale> scale_of(const Options& options, const Recording& recording,
                           const Request& request) {
  TimeScale scale{recording.info().checkpoint ? recording.info().checkpoint->from
                                              : recording_start(recording.info()),
                  last_page_end(recording) + 1, request.rows};
  const auto span = FKT_TRY(time_span(options, recording));
  scale.from = span.from.value_or(scale.from);
  scale.to = span.to.value_or(scale.to);
  if (scale.from < scale.to) return scale;
  if (!options.has("from") && !options.has("to")) {
    return Error{ErrorCode::absent,
                 input_name(request.file) + ": no page of events in the recording"};
  }
  return usage("--from: not before --to");
}

void write(TextWriter& out, const Request& request, const Recording& recording,
           const BufferColumns& columns) {
  const double per_second = recording.info().clocks.ticks_per_second();
  const std::uint64_t start = recording_start(recording.info());
  const BufferTable table{columns, recording.info().page_bytes, start,
                          TimeFormat(request.unit, per_second)};
  switch (request.form) {
    case Form::text:
      return table.text(out);
    case Form::json:
      return table.json(out);
    case Form::csv:
      return table.csv(out);
    case Form::svg:
      return write_buffer_picture(out, columns, start, per_second, request.file);
  }
}

Status put_output(const std::string& path, const TextWriter& out) {
  if (path.empty()) {
    const Result<bool> written = put(out.view());
    return written ? Status(Done{}) : Status(written.error());
  }
  auto file = FKT_TRY(TextFile::create(path));
  file.out().put(out.view());
  return file.flush(true);
}

int run(const Options& options) {
  const Result<Request> request = request_of(options);
  if (!request) return fail(request.error());
  const Result<Recording> recording = Recording::open(request->file);
  if (!recording) return fail(recording.error());
  const Result<TimeScale> scale = scale_of(options, *recording, *request);
  if (!scale) return fail(scale.error(), request->file, *recording);
  BufferColumns columns(*scale);
  const Status followed = [&] {
    Progress progress("reading");
    const std::uint64_t total = events_of(*recording);
    return follow_buffers(
        *recording, [&](const BufferState& state) { columns.add(state); },
        [&](std::uint64_t done) { progress.update(done, total); });
  }();
  columns.finish();
  TextWriter out;
  write(out, *request, *recording, columns);
  const Status written = put_output(request->output, out);
  if (!written) return fail(written.error());
  if (!followed) {
    say_damage(request->file, *recording);
    return fail({followed.error().code, request->file + ": " + followed.error().message});
  }
  return say_damage(request->file, *recording);
}

}  // namespace

int buffer_statistics(int argc, const char* const* argv) {
  Options options("[options] [FILE]",
                  "Shows how full FKT's own buffers were while it recorded FILE (default "
                  "trace_file, -:\nstandard input), which needs the layer fkt (fkt_record -k "
                  "system,process,fkt).");
  add_options(options);
  if (const auto status = options.parse(argc, argv)) return *status;
  return run(options);
}

}  // namespace fkt::cli
