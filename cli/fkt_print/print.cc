// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_print/print.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "cli/base/answer.h"
#include "cli/base/damage.h"
#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "cli/base/progress.h"
#include "cli/base/selection_options.h"
#include "cli/fkt_print/diff.h"
#include "cli/fkt_print/follow.h"
#include "cli/fkt_print/jump.h"
#include "cli/fkt_print/prepare.h"
#include "cli/fkt_print/request.h"
#include "cli/fkt_print/views.h"
#include "lib/analyse/analysis.h"
#include "lib/instrument/program_functions.h"
#include "lib/report/event_dump.h"
#include "lib/report/report_csv.h"
#include "lib/report/report_json.h"
#include "lib/report/report_text.h"
#include "lib/report/summary_cut.h"
#include "lib/scan/scan.h"

namespace fkt::cli {
namespace {

// Reads the recording for the statistics only.
void add_up(const Recording& recording, const PrintRequest& request, Analysis& analysis) {
  Progress progress("reading");
  const std::uint64_t total = events_of(recording);
  scan(recording, analysis, {.progress = [&](std::uint64_t done) {
         progress.update(done, total);
         return true;
       }});
  // A slice's end does not limit the request: a slice is read to its end.
  analysis.finish(!request.selection.to, recording_end(recording));
}

// Returns the begin of the dumped part, for which the state of each CPU is printed. Nothing if
// single events are selected.
std::optional<std::uint64_t> cut_of(const PrintRequest& request, const Analysis& analysis) {
  const Selection& s = analysis.selection();
  const bool chosen = s.layer || s.own || s.where || s.dump_pid || !s.parts.empty();
  return request.json || chosen ? std::nullopt : s.from;
}

// Prints the events while reading and counts them in `shown`. Returns false when the reader of
// stdout has closed the pipe. jump: the analysis was made with its info.
Result<bool> print_events(const Recording& recording, const PrintRequest& request, const Jump& jump,
                          Analysis& analysis, const TimeFormat& time, std::uint64_t& shown) {
  EventDump dump(analysis, time, request.codes, read_program_functions);
  TextWriter out;
  if (!request.json) dump.title(out);
  std::optional<std::uint64_t> cut = cut_of(request, analysis);
  const auto say_states = [&] {
    dump.states(out, *cut);
    cut.reset();
  };
  Result<bool> wanted = true;
  const std::optional<std::uint64_t> from = jump.run(analysis);
  const bool all = follow(
      recording, request, analysis, shown,
      [&](const Event& event, const Analysis::Found& place) {
        dump.add(event, place);
        if (!place.shown) return true;
        if (request.json) {
          dump.json_line(out, event, place);
        } else {
          dump.line(out, event, place);
        }
        if (out.size() < kFlushBytes) return true;
        wanted = put(out.view());
        out.clear();
        return wanted && *wanted;
      },
      [&](const Event& event) {
        if (cut && event.clock >= *cut) say_states();
      },
      from);
  if (!all) return wanted;
  if (cut) say_states();
  analysis.finish(!request.selection.to, recording_end(recording));
  return put(out.view());
}

// On a terminal the statistics begin with the first screen (lib/report/answer.h).
void put_first_screen(TextWriter& out, const Recording& recording, const PrintRequest& request) {
  const Terminal screen = terminal(STDOUT_FILENO);
  const Selection& s = request.selection;
  const bool all = !s.cpu && !s.layer && !s.own && !s.where && !s.stats_pid && !s.dump_pid &&
                   s.parts.empty() && !request.without_user;
  if (!screen.is || !all) return;
  if (!answer_is_quick(recording)) {
    out.put(answer_hint(request.file));
    out.put('\n');
    return;
  }
  const Answer answer = read_answer(recording, s, kAnswerRows, kAnswerSlowest);
  const TimeFormat time(TimeUnit::readable, recording.info().clocks.ticks_per_second());
  write_answer(out, answer, request.file, screen, time);
  out.put('\n');
}

std::string statistics(const Recording& recording, const PrintRequest& request,
                       const Analysis& analysis, const TimeFormat& time) {
  TextWriter out;
  if (request.counts) {
    std::vector<Summary::Count> counts = count_events(analysis);
    if (request.top && counts.size() > *request.top) counts.resize(*request.top);
    if (request.json) return counts_json(counts);
    if (request.csv) {
      write_counts_csv(out, counts);
    } else {
      write_counts(out, counts);
    }
  } else {
    Summary summary = summarize(analysis, recording.integrity(), request.without_user);
    if (request.top) cut(summary, *request.top);
    if (request.json) return report_json(summary, analysis, time);
    if (request.csv) {
      write_report_csv(out, summary, recording.info().hits, time);
      return std::string(out.view());
    }
    if (request.dump) out.put('\n');
    put_first_screen(out, recording, request);
    out.set_columns(terminal(STDOUT_FILENO).width);
    write_report(out, summary, analysis, time);
  }
  return std::string(out.view());
}

int print(const Options& options) {
  Result<PrintRequest> request = print_request(options);
  if (!request) return fail(request.error());
  const Result<Recording> recording = Recording::open(request->file);
  if (!recording) return fail(recording.error());
  const Status selection = complete_selection(options, *recording, request->selection);
  if (!selection) return fail(selection.error(), request->file, *recording);
  if (!request->process.empty()) {
    const auto pid = find_pid("-p", request->process, *recording);
    if (!pid) return fail(pid.error(), request->file, *recording);
    request->selection.dump_pid = *pid;
  }
  Result<Prepared> prepared = [&] {
    Progress progress("searching");
    const std::uint64_t total = events_of(*recording);
    return prepare(options, *recording, *request,
                   [&](std::uint64_t done) { progress.update(done, total); });
  }();
  if (!prepared) return fail(prepared.error(), request->file, *recording);
  if (!prepared->text.empty()) {
    const Result<bool> wanted = put(prepared->text);
    if (!wanted) return fail(wanted.error());
    if (!*wanted) return kDone;
  }
  if (prepared->all) return say_damage(request->file, *recording);

  const TimeFormat time(request->unit, recording->info().clocks.ticks_per_second());
  const Jump jump(*recording, *request);
  Analysis analysis(jump.info(), request->selection);
  if (request->statistics) analysis.keep_histograms();
  std::uint64_t shown = 0;
  const bool view = request->view != View::none;
  if (view) {
    const Result<bool> wanted = print_view(*recording, *request, analysis, time, shown);
    if (!wanted) return fail(wanted.error());
    if (!*wanted) return kDone;
  } else if (request->dump) {
    const Result<bool> wanted = print_events(*recording, *request, jump, analysis, time, shown);
    if (!wanted) return fail(wanted.error());
    if (!*wanted) return kDone;
  } else {
    add_up(*recording, *request, analysis);
  }
  const Status seen = check_tasks_seen(analysis, request->file);
  if (!seen) return fail(seen.error(), request->file, *recording);
  if (request->statistics || request->counts) {
    const Result<bool> written = put(statistics(*recording, *request, analysis, time));
    if (!written) return fail(written.error());
  }
  const std::uint64_t events = request->dump || view ? shown : analysis.profile().events();
  if (events == 0) {
    say_no_events(request->file, *recording, selection_option(options) || options.has("-p"));
  }
  return say_damage(request->file, *recording, request->statistics && !request->csv);
}

}  // namespace

int print_recording(int argc, const char* const* argv) {
  Options options("[options] [FILE]",
                  "Prints a recording: FILE (default trace_file), or - for standard input.");
  add_print_options(options);
  if (const auto status = options.parse(argc, argv)) return *status;
  if (options.has("diff")) return print_diff(options);
  if (options.has("per-second")) return fail(usage("--per-second: only with --diff"));
  return print(options);
}

}  // namespace fkt::cli
