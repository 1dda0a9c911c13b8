// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_kd/kd.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cli/fkt_kd/request.h"
#include "lib/call_source.h"
#include "lib/function_histogram.h"

namespace fkt::cli {
namespace {

Result<std::string> table(const CallSource& source, const KdRequest& request,
                          const TimeFormat& time) {
  std::vector<FunctionRow> rows = function_rows(source.profile(), source.types());
  arrange(rows, request.shape);
  Writer out;
  switch (request.format) {
    case KdFormat::text:
      write_table(out, rows, request.shape, time);
      break;
    case KdFormat::json:
      write_json(out, rows, time);
      break;
    case KdFormat::csv:
      write_csv(out, rows, request.shape, time);
      break;
  }
  return std::string(out.view());
}

Result<std::string> histogram(const CallSource& source, const KdRequest& request,
                              const TimeFormat& time) {
  Result<FunctionHistogram> found =
      function_histogram(source.profile(), source.types(), request.histogram);
  if (!found) return found.error();
  Writer out;
  switch (request.format) {
    case KdFormat::text:
      write_histogram(out, *found, time);
      break;
    case KdFormat::json:
      write_histogram_json(out, *found, time);
      break;
    case KdFormat::csv:
      write_histogram_csv(out, *found, time);
      break;
  }
  return std::string(out.view());
}

// What could not be used, on standard error.
int say_damage(const CallSource& source, const std::string& file) {
  if (!source.log_damage().empty()) warn(source.log_damage());
  if (source.trace() == nullptr) return kDone;
  const Integrity& integrity = source.trace()->integrity();
  if (!integrity.finished) warn(file + ": not finished by its recorder");
  if (source.analysis()->lost() > 0) {
    warn(file + ": " + with_commas(source.analysis()->lost()) + " events lost");
  }
  if (integrity.damaged_pages == 0) return kDone;
  return fail({ErrorCode::damaged,
               file + ": damaged pages skipped: " + std::to_string(integrity.damaged_pages)});
}

int run(const Options& options) {
  Result<KdRequest> request = kd_request(options);
  if (!request) return fail(request.error());
  Result<CallSource> source = CallSource::open(request->file);
  if (!source) return fail(source.error());
  const auto least = least_time(options, source->ticks_per_second());
  if (!least) return fail(least.error());
  request->shape.above = *least;
  source->select({});

  const TimeFormat time(request->unit, source->ticks_per_second());
  {
    Progress progress("reading");
    const Status read = source->read(nullptr, {}, [&](std::uint64_t done, std::uint64_t total) {
      progress.update(done, total);
    });
    if (!read) return fail(read.error());
  }
  const Result<std::string> text = request->output == KdOutput::table
                                       ? table(*source, *request, time)
                                       : histogram(*source, *request, time);
  if (!text) return fail(text.error());
  const Result<bool> wanted = put(*text);
  if (!wanted) return fail(wanted.error());
  return *wanted ? say_damage(*source, request->file) : kDone;
}

}  // namespace

int kd(int argc, const char* const* argv) {
  Options options("[options] [FILE]",
                  "Says where the time went, function by function. FILE (default trace_file, -:\n"
                  "standard input) is a recording or a text log of KFT.");
  add_kd_options(options);
  if (const auto status = options.parse(argc, argv)) return *status;
  return run(options);
}

}  // namespace fkt::cli
