// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_print/views.h"

#include <unistd.h>

#include "cli/base/answer.h"
#include "cli/base/messages.h"
#include "cli/base/terminal.h"
#include "cli/fkt_print/follow.h"
#include "lib/analyse/lock_use.h"
#include "lib/analyse/program_code.h"
#include "lib/analyse/task_calls.h"
#include "lib/analyse/task_runs.h"
#include "lib/instrument/program_functions.h"
#include "lib/report/calls_report.h"
#include "lib/report/io_report.h"
#include "lib/report/locks_report.h"
#include "lib/report/runs_report.h"
#include "lib/report/stack_counts.h"

namespace fkt::cli {
namespace {

constexpr std::size_t kAllRows = ~std::size_t{0};

// Reads the recording as follow() does, and ends the analysis. A slice's end does not limit the
// request: a slice is read to its end.
template <class Each>
bool follow_all(const Recording& recording, const PrintRequest& request, Analysis& analysis,
                std::uint64_t& shown, Each each) {
  if (!follow(recording, request, analysis, shown, each)) return false;
  analysis.finish(!request.selection.to, recording_end(recording));
  return true;
}

template <class Report>
Result<bool> put_report(const Report& report, const PrintRequest& request) {
  TextWriter out;
  out.set_columns(terminal(STDOUT_FILENO).width);
  if (request.json) {
    report.json(out);
  } else if (request.csv) {
    report.csv(out);
  } else {
    report.text(out);
  }
  return put(out.view());
}

IoUse::Table io_table(View view) {
  return view == View::files   ? IoUse::Table::files
         : view == View::disks ? IoUse::Table::disks
                               : IoUse::Table::sockets;
}

Result<bool> print_io(const Recording& recording, const PrintRequest& request, Analysis& analysis,
                      const TimeFormat& time, std::uint64_t& shown) {
  const IoUse::Table table = io_table(request.view);
  IoUse use(analysis, table);
  follow_all(recording, request, analysis, shown,
             [&](const Event& event, const Analysis::Found& place) {
               use.add(event, place);
               return true;
             });
  if (!use.has_source()) {
    constexpr const char* kLayers[] = {"fs", "block", "transport,socket"};
    warn(request.file + ": no event that this table is made of was recorded (fkt_record -k " +
         kLayers[static_cast<std::size_t>(table)] + ")");
  }
  return put_report(IoReport{use, table, recording.info(), analysis.tasks(), time,
                             request.top.value_or(kAllRows)},
                    request);
}

Result<bool> print_locks(const Recording& recording, const PrintRequest& request,
                         Analysis& analysis, const TimeFormat& time, std::uint64_t& shown) {
  LockUse use(analysis);
  ProgramCode code(analysis, read_program_functions);
  follow_all(recording, request, analysis, shown,
             [&](const Event& event, const Analysis::Found& place) {
               use.add(event, place);
               code.add(event, place);
               return true;
             });
  if (!use.has_source()) {
    warn(request.file +
         ": no event that this table is made of was recorded (fkt_record -k system,lock --args)");
  }
  return put_report(LocksReport{use, analysis, code, time, request.top.value_or(kAllRows)},
                    request);
}

Result<bool> print_calls(const Recording& recording, const PrintRequest& request,
                         Analysis& analysis, const TimeFormat& time, std::uint64_t& shown) {
  TaskCalls calls(analysis);
  analysis.watch(calls);
  follow_all(recording, request, analysis, shown,
             [&](const Event& event, const Analysis::Found& place) {
               calls.add(event, place);
               return true;
             });
  return put_report(CallsReport{calls, analysis, time, request.top.value_or(kAllRows)}, request);
}

Result<bool> print_summary(const Recording& recording, const PrintRequest& request,
                           const TimeFormat& time, std::uint64_t& shown) {
  const Answer answer = read_answer(recording, request.selection, request.top.value_or(kAnswerRows),
                                    request.top.value_or(kAnswerSlowest));
  shown = answer.events;
  TextWriter out;
  if (request.json) {
    write_answer_json(out, answer, time);
  } else if (request.csv) {
    write_answer_csv(out, answer, time);
  } else {
    write_answer(out, answer, request.file, terminal(STDOUT_FILENO), time);
  }
  return put(out.view());
}

// Prints while it reads: there may be more runs than fit into memory.
Result<bool> print_runs(const Recording& recording, const PrintRequest& request, Analysis& analysis,
                        const TimeFormat& time, std::uint64_t& shown) {
  using Form = RunsReport::Form;
  const Form form = request.json ? Form::json : request.csv ? Form::csv : Form::text;
  TextWriter out;
  RunsReport report(out, form, analysis, time);
  std::size_t left = request.top.value_or(kAllRows);
  TaskRuns runs(analysis, [&](const TaskRuns::Run& run) {
    if (left == 0) return;
    report.add(run);
    left--;
  });
  analysis.watch(runs);
  Result<bool> wanted = true;
  const bool whole = follow_all(recording, request, analysis, shown,
                                [&](const Event& event, const Analysis::Found& place) {
                                  runs.add(event, place);
                                  if (left == 0) return false;  // more are not wanted
                                  if (out.size() < kFlushBytes) return true;
                                  wanted = put(out.view());
                                  out.clear();
                                  return wanted && *wanted;
                                });
  if (!whole && left > 0) return wanted;
  if (whole) runs.finish(analysis.end());
  report.flush();
  return put(out.view());
}

Result<bool> print_stacks(const Recording& recording, const PrintRequest& request,
                          Analysis& analysis, std::uint64_t& shown) {
  StackCounts stacks(analysis, read_program_functions);
  follow_all(recording, request, analysis, shown,
             [&](const Event& event, const Analysis::Found& place) {
               stacks.add(event, place);
               return true;
             });
  if (stacks.empty()) {
    warn(request.file + ": no stack was recorded (fkt_record -i 'PLACE do stack')");
  }
  TextWriter out;
  stacks.write(out);
  return put(out.view());
}

}  // namespace

Result<bool> print_view(const Recording& recording, const PrintRequest& request, Analysis& analysis,
                        const TimeFormat& time, std::uint64_t& shown) {
  switch (request.view) {
    case View::locks:
      return print_locks(recording, request, analysis, time, shown);
    case View::calls:
      return print_calls(recording, request, analysis, time, shown);
    case View::summary:
      return print_summary(recording, request, time, shown);
    case View::sched:
      return print_runs(recording, request, analysis, time, shown);
    case View::stacks:
      return print_stacks(recording, request, analysis, shown);
    default:
      return print_io(recording, request, analysis, time, shown);
  }
}

}  // namespace fkt::cli
