// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_print/diff.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "cli/base/messages.h"
#include "cli/base/progress.h"
#include "cli/base/terminal.h"
#include "cli/fkt_print/request.h"
#include "lib/report/diff_report.h"

namespace fkt::cli {
namespace {

// Options that select a part or an output of a single recording.
constexpr const char* kNotWithDiff[] = {"dump",  "stats",  "counts",  "cpu", "layer",
                                        "from",  "to",     "-s",      "-p",  "-k",
                                        "where", "around", "slowest", "-t",  "-b"};

struct DiffRequest {
  std::string old_file, new_file;
  TimeUnit unit = TimeUnit::us;
  bool per_second = false;
  std::size_t most = SIZE_MAX;  // rows
};

Result<DiffRequest> diff_request(const Options& options) {
  for (const char* name : kNotWithDiff) {
    if (!options.has(name)) continue;
    return usage("--diff and " + options.shown(name) + ": only one of the two");
  }
  if (options.has("json") && options.has("csv")) {
    return usage("--json and --csv: only one of the two");
  }
  const bool data = options.has("json") || options.has("csv");
  if (options.has("per-second") && data) {
    return usage("--per-second: not with --json and --csv, which have both");
  }
  if (options.arguments().empty()) return usage("--diff: name two files: --diff OLD NEW");
  DiffRequest request{options.text("diff"), options.arguments()[0]};
  if (request.old_file == "-" && request.new_file == "-") {
    return usage("--diff: only one of the two can be standard input");
  }
  if (options.has("time")) {
    const auto unit = TimeFormat::parse(options.text("time"));
    if (!unit || *unit == TimeUnit::cycles) {
      return usage("--time: \"" + options.text("time") +
                   "\" is not one of ns, us, ms, s: two recordings' cycles differ");
    }
    request.unit = *unit;
  } else if (!data) {
    request.unit = TimeUnit::readable;
  }
  request.per_second = options.has("per-second");
  if (options.has("top")) {
    request.most = FKT_TRY(read_top(options));
  }
  return request;
}

Result<CallSource> read(const std::string& file) {
  auto source = FKT_TRY(CallSource::open(file));
  source.select({});
  Progress progress("reading " + file);
  FKT_TRY(source.read(nullptr, [&](std::uint64_t done, std::uint64_t total) {
    progress.update(done, total);
    return true;
  }));
  for (const std::string& line : source.damage()) warn(line);
  return source;
}

}  // namespace

int print_diff(const Options& options) {
  const Result<DiffRequest> request = diff_request(options);
  if (!request) return fail(request.error());
  const Result<CallSource> before = read(request->old_file);
  if (!before) return fail(before.error());
  const Result<CallSource> after = read(request->new_file);
  if (!after) return fail(after.error());
  for (const auto& [file, source] :
       {std::pair(&request->old_file, &*before), std::pair(&request->new_file, &*after)}) {
    if (request->per_second && source->duration().value_or(0) == 0) {
      return fail(usage("--per-second: how long " + *file + " took is not known"));
    }
  }
  std::vector<DiffRow> rows =
      function_diff(*before, *after, request->per_second ? DiffBy::rates : DiffBy::sums);
  if (rows.size() > request->most) rows.resize(request->most);
  const std::vector<Unlike> differences = unlike(*before, *after);
  const DiffReport report{rows,
                          differences,
                          {request->old_file, before->duration()},
                          {request->new_file, after->duration()},
                          request->unit,
                          request->per_second};
  TextWriter out;
  out.set_columns(terminal(STDOUT_FILENO).width);
  if (options.has("json")) {
    report.json(out);
  } else if (options.has("csv")) {
    report.csv(out);
    for (const Unlike& one : differences) {
      warn("unlike " + one.what + ": old " + one.before + ", new " + one.after);
    }
  } else {
    report.text(out);
  }
  const Result<bool> written = put(out.view());
  if (!written) return fail(written.error());
  return before->is_damaged() || after->is_damaged() ? kFailed : kDone;
}

}  // namespace fkt::cli
