// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_kd/kd.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "cli/base/damage.h"
#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "cli/base/progress.h"
#include "cli/base/selection_options.h"
#include "cli/base/terminal.h"
#include "cli/base/units.h"
#include "cli/fkt_kd/request.h"
#include "lib/analyse/critical_path.h"
#include "lib/analyse/off_cpu.h"
#include "lib/analyse/task_activity.h"
#include "lib/calls/call_source.h"
#include "lib/calls/call_trace.h"
#include "lib/calls/call_tree.h"
#include "lib/calls/kft_moments.h"
#include "lib/calls/user_functions.h"
#include "lib/format/programs_only.h"
#include "lib/picture/flame_graph.h"
#include "lib/report/call_tree_text.h"
#include "lib/report/function_report.h"
#include "lib/report/histogram_report.h"
#include "lib/report/kft_head.h"
#include "lib/report/off_cpu_report.h"
#include "lib/report/path_report.h"
#include "lib/report/task_report.h"
#include "lib/report/user_functions_report.h"

namespace fkt::cli {
namespace {

// Returns what the function for this format writes.
template <class Text, class Json, class Csv>
std::string formatted(KdFormat format, Text text, Json json, Csv csv) {
  TextWriter out;
  out.set_columns(terminal(STDOUT_FILENO).width);
  switch (format) {
    case KdFormat::text:
      text(out);
      break;
    case KdFormat::json:
      json(out);
      break;
    case KdFormat::csv:
      csv(out);
      break;
  }
  return std::string(out.view());
}

std::string table(const CallSource& source, const KdRequest& request, const TimeFormat& time) {
  std::vector<FunctionRow> rows = function_rows(source.profile(), source.types());
  arrange(rows, request.shape);
  return formatted(
      request.format, [&](TextWriter& out) { write_functions(out, rows, request.shape, time); },
      [&](TextWriter& out) { write_functions_json(out, rows, time); },
      [&](TextWriter& out) { write_functions_csv(out, rows, request.shape, time); });
}

Result<std::string> histogram(const CallSource& source, const KdRequest& request,
                              const TimeFormat& time) {
  const auto found =
      FKT_TRY(function_histogram(source.profile(), source.types(), request.histogram));
  return formatted(
      request.format, [&](TextWriter& out) { write_histogram(out, found, time); },
      [&](TextWriter& out) { write_histogram_json(out, found, time); },
      [&](TextWriter& out) { write_histogram_csv(out, found, time); });
}

// Reads the file once. Returns false when the reader of stdout has closed the pipe, which ends the
// reading.
Result<bool> read(CallSource& source, SpanObserver* sink, const bool& wanted) {
  Progress progress("reading");
  FKT_TRY(source.read(sink, [&](std::uint64_t done, std::uint64_t total) {
    progress.update(done, total);
    return wanted;
  }));
  return wanted;
}

CallTrace::TaskName task_name(const CallSource& source) {
  return [&source](std::uint32_t task) { return source.task(task); };
}

// Prints the calls while reading. Returns false when the reader of stdout has closed the pipe.
Result<bool> call_trace(CallSource& source, const KdRequest& request, const TimeFormat& time) {
  bool wanted = true;
  std::optional<Error> failed;
  const auto flush = [&](TextWriter& lines) {
    const Result<bool> written = wanted ? put(lines.view()) : Result<bool>(false);
    if (!written) failed = written.error();
    wanted = written && *written;
    lines.clear();
  };
  const bool is_log = request.output == KdOutput::kft_log;
  const CallTraceShape shape{request.interleaved, is_log, request.long_form, request.shape.above};
  std::uint64_t start = source.start();
  if (is_log) {
    const KftEnds ends = find_kft_ends(*source.recording());
    if (ends.begin) start = ends.begin->clock;
    const Result<bool> written = put_lines(kft_head(*source.recording(), ends));
    if (!written || !*written) return written;
  }
  CallTrace trace(shape, time, start, source.types().name, task_name(source), flush);
  std::optional<KftMoments> moments;
  if (is_log) {
    const Selection& selection = source.analysis()->selection();
    const ReadRange range{.from = selection.from, .to = selection.to, .cpu = selection.cpu};
    trace.set_moments(&moments.emplace(*source.recording(), range));
  }
  FKT_TRY(read(source, &trace, wanted));
  trace.finish();
  if (failed) return *failed;
  if (wanted && trace.printed_early() > 0) {
    warn(with_commas(trace.printed_early()) + " calls were printed before they ended");
  }
  return wanted;
}

// Returns the tree in the requested form. text: of a picture.
Result<std::string> tree_text(const CallTree& tree, const KdRequest& request,
                              const TimeFormat& time, const FlameText& text) {
  TextWriter out;
  switch (request.output) {
    case KdOutput::folded:
      write_folded(out, tree, time);
      break;
    case KdOutput::dot:
      write_dot(out, tree, time);
      break;
    default: {
      FKT_TRY(write_flame_graph(out, tree, time, text));
    }
  }
  return std::string(out.view());
}

Result<std::string> paths(CallSource& source, const KdRequest& request, const TimeFormat& time) {
  CallTree tree(source.types().name, task_name(source));
  if (source.analysis() != nullptr) {
    const Selection& selection = source.analysis()->selection();
    if (selection.where || selection.layer) tree.only_selected();
  }
  FKT_TRY(read(source, &tree, true));
  tree.finish();
  const bool unknown = source.recording() != nullptr && programs_only(source.recording()->info());
  return tree_text(tree, request, time,
                   {.title = request.file, .total = unknown ? "Time, running or not" : "CPU time"});
}

Result<std::string> user_functions(CallSource& source, const KdRequest& request,
                                   const TimeFormat& time) {
  UserFunctions functions(source.analysis()->types());
  FKT_TRY(read(source, &functions, true));
  std::vector<UserFunctionRow> rows = functions.rows();
  if (rows.empty()) {
    return Error{ErrorCode::absent, "--functions: no function of a user program is selected"};
  }
  constexpr std::uint64_t kNeeded = 1ULL << FKT_L_SYSTEM | 1ULL << FKT_L_PROCESS;
  if ((source.recording()->info().command.mask & kNeeded) != kNeeded) {
    warn(request.file +
         ": system calls and switches were not both recorded: what they took counts as Own");
  }
  if (request.shape.above > 0) {
    std::erase_if(rows, [&](const auto& row) { return row.time <= request.shape.above; });
  }
  if (rows.size() > request.shape.most) rows.resize(request.shape.most);
  return formatted(
      request.format, [&](TextWriter& out) { write_user_functions(out, rows, time); },
      [&](TextWriter& out) { write_user_functions_json(out, rows, time); },
      [&](TextWriter& out) { write_user_functions_csv(out, rows, time); });
}

// Reads the file once to determine the states of the tasks.
Status read_activity(CallSource& source, TaskActivity& states) {
  Progress progress("reading");
  return source.read(states, [&](std::uint64_t done, std::uint64_t total) {
    progress.update(done, total);
    return true;
  });
}

Result<std::string> critical_path(CallSource& source, const KdRequest& request,
                                  const TimeFormat& time) {
  const Analysis& analysis = *source.analysis();
  const auto pid = FKT_TRY(find_pid("--critical-path", request.process, *source.recording()));
  TaskActivity states(analysis);
  states.keep_history();
  FKT_TRY(read_activity(source, states));
  if (states.history_full()) {
    return Error{ErrorCode::usage,
                 "--critical-path: too much happened for one path: choose a part "
                 "with --from and --to"};
  }
  const TaskIndex task = analysis.tasks().find(pid);
  if (task == kNoTask || task >= states.stats().size()) {
    return Error{ErrorCode::absent,
                 fmt::format("--critical-path: no process {} in the recording", pid)};
  }
  const std::vector<PathStep> steps =
      fkt::critical_path(states, analysis.tasks(), task, analysis.begin(), analysis.end()).steps;
  if (steps.empty()) {
    return Error{ErrorCode::absent,
                 fmt::format("--critical-path: {} did not live in that part", pid)};
  }
  PathTable path = path_table(steps, analysis);
  path.cut(request.shape.most);
  return formatted(
      request.format, [&](TextWriter& out) { write_path(out, path, request.steps, time); },
      [&](TextWriter& out) { write_path_json(out, path, request.steps, time); },
      [&](TextWriter& out) { write_path_csv(out, path, request.steps, time); });
}

Result<std::string> tasks(CallSource& source, const KdRequest& request, const TimeFormat& time) {
  TaskActivity states(*source.analysis());
  FKT_TRY(read_activity(source, states));
  std::vector<TaskRow> rows = task_rows(states, *source.analysis());
  if (rows.size() > request.shape.most) rows.resize(request.shape.most);
  return formatted(
      request.format, [&](TextWriter& out) { write_tasks(out, rows, request.long_form, time); },
      [&](TextWriter& out) { write_tasks_json(out, rows, time); },
      [&](TextWriter& out) { write_tasks_csv(out, rows, time); });
}

Result<std::string> off_cpu(CallSource& source, const KdRequest& request, const TimeFormat& time) {
  const Analysis& analysis = *source.analysis();
  TaskActivity states(analysis);
  OffCpu waits(analysis);
  states.tell([&](TaskIndex task, const TaskActivity::Period& period) { waits.add(task, period); });
  FKT_TRY(read_activity(source, states));
  const std::vector<OffCpu::Row> rows = waits.rows();
  if (request.output == KdOutput::table) {
    const OffCpuReport report{rows, request.shape.most, time};
    return formatted(
        request.format, [&](TextWriter& out) { report.text(out); },
        [&](TextWriter& out) { report.json(out); }, [&](TextWriter& out) { report.csv(out); });
  }
  CallTree tree(source.types().name, task_name(source));
  add_off_cpu(tree, rows);
  tree.finish();
  const std::string title = request.file + ", off the CPUs";
  return tree_text(tree, request, time, {.title = title, .total = "Time off the CPUs"});
}

Result<bool> output(CallSource& source, const KdRequest& request, const TimeFormat& time) {
  if (request.output == KdOutput::trace || request.output == KdOutput::kft_log)
    return call_trace(source, request, time);
  Result<std::string> text = std::string();
  if (request.off_cpu) {
    text = off_cpu(source, request, time);
  } else if (request.output == KdOutput::table || request.output == KdOutput::histogram) {
    FKT_TRY(read(source, nullptr, true));
    text = request.output == KdOutput::table ? Result<std::string>(table(source, request, time))
                                             : histogram(source, request, time);
  } else if (request.output == KdOutput::user_functions) {
    text = user_functions(source, request, time);
  } else if (request.output == KdOutput::tasks) {
    text = tasks(source, request, time);
  } else if (request.output == KdOutput::critical_path) {
    text = critical_path(source, request, time);
  } else {
    text = paths(source, request, time);
  }
  if (!text) return text.error();
  return put(*text);
}

// As fail(error, file, recording) of damage.h.
int fail_of(const CallSource& source, const Error& error) {
  if (error.code == ErrorCode::absent) {
    for (const std::string& line : source.damage()) warn(line);
  }
  return fail(error);
}

int run(const Options& options) {
  Result<KdRequest> request = kd_request(options);
  if (!request) return fail(request.error());
  Result<CallSource> source = CallSource::open(request->file);
  if (!source) return fail(source.error());
  if (source->recording() == nullptr) {
    const Status good = check_for_log(options, *request);
    if (!good) return fail(good.error());
  }
  const auto least = least_time(options, source->ticks_per_second());
  if (!least) return fail(least.error());
  request->shape.above = *least;
  const Result<Selection> selection = [&] {
    Progress progress("searching");
    const std::uint64_t total =
        source->recording() == nullptr ? 0 : events_of(*source->recording());
    return kd_selection(options, source->recording(),
                        [&](std::uint64_t done) { progress.update(done, total); });
  }();
  if (!selection) {
    const Recording* recording = source->recording();
    return recording == nullptr ? fail(selection.error())
                                : fail(selection.error(), request->file, *recording);
  }
  source->select(*selection);
  const TimeFormat time(request->unit, source->ticks_per_second());
  const Result<bool> wanted = output(*source, *request, time);
  if (!wanted) return fail_of(*source, wanted.error());
  if (!*wanted) return kDone;
  const Analysis* analysis = source->analysis();
  if (analysis != nullptr) {
    const Status seen = check_tasks_seen(*analysis, request->file);
    if (!seen) return fail_of(*source, seen.error());
  }
  if (analysis != nullptr && analysis->profile().events() == 0) {
    say_no_events(request->file, *source->recording(), selection_option(options).has_value());
  }
  for (const std::string& line : source->damage()) warn(line);
  // Damage is a failure although the rest was shown.
  return source->is_damaged() ? kFailed : kDone;
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
