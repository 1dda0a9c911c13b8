// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_kd/request.h"

#include <vector>

#include "cli/base/messages.h"
#include "cli/base/selection_options.h"
#include "cli/base/units.h"
#include "lib/format/clocks.h"

namespace fkt::cli {
namespace {

struct OutputOption {
  const char* name;  // name for Options::has()
  const char* shown;
  KdOutput output;
};
constexpr OutputOption kOutputs[] = {{"histogram", "--histogram", KdOutput::histogram},
                                     {"functions", "--functions", KdOutput::user_functions},
                                     {"tasks", "--tasks", KdOutput::tasks},
                                     {"critical-path", "--critical-path", KdOutput::critical_path},
                                     {"-c", "-c", KdOutput::trace},
                                     {"folded", "--folded", KdOutput::folded},
                                     {"flamegraph", "--flamegraph", KdOutput::flamegraph},
                                     {"dot", "--dot", KdOutput::dot},
                                     {"kft-log", "--kft-log", KdOutput::kft_log}};

Status choose_output(const Options& options, KdRequest& r) {
  const char* chosen = nullptr;
  for (const OutputOption& option : kOutputs) {
    if (!options.has(option.name)) continue;
    if (chosen != nullptr) {
      return usage(std::string(chosen) + " and " + option.shown + ": only one of the two");
    }
    chosen = option.shown;
    r.output = option.output;
  }
  if (options.has("json") && options.has("csv")) {
    return usage("--json and --csv: only one of the two");
  }
  r.off_cpu = options.has("offcpu");
  const bool of_paths = r.output == KdOutput::table || r.output == KdOutput::folded ||
                        r.output == KdOutput::flamegraph || r.output == KdOutput::dot;
  if (r.off_cpu && !of_paths) return usage(std::string("--offcpu: not with ") + chosen);
  const bool tasks =
      r.off_cpu || r.output == KdOutput::tasks || r.output == KdOutput::critical_path;
  if (r.off_cpu && chosen == nullptr) chosen = "--offcpu";
  const bool rows = r.output == KdOutput::tasks || r.output == KdOutput::critical_path ||
                    r.output == KdOutput::table || r.output == KdOutput::histogram ||
                    r.output == KdOutput::user_functions;
  for (const char* format : {"json", "csv"}) {
    if (!rows && options.has(format)) {
      return usage("--" + std::string(format) + ": not for " + chosen);
    }
  }
  for (const char* part : {"-s", "cpu", "layer", "where", "around", "task"}) {
    if (!tasks || !options.has(part)) continue;
    if (r.output != KdOutput::critical_path && std::string_view(part) == "task") continue;
    // The states of a task depend on the events of all CPUs, so they cannot be restricted to some.
    return usage((part[0] == '-' ? "" : "--") + std::string(part) + ": not for " + chosen +
                 "; --from and --to are");
  }
  if (options.has("json")) r.format = KdFormat::json;
  if (options.has("csv")) r.format = KdFormat::csv;
  return Done{};
}

Status table_shape(const Options& options, KdRequest& r) {
  if (r.long_form) r.shape.columns = kLongColumns;
  if (options.has("-f")) {
    const Status known = check_columns("-f", options.text("-f"));
    if (!known) return known;
    r.shape.columns = options.text("-f");
  }
  if (options.has("sort")) {
    const Status known = check_sort("--sort", options.text("sort"));
    if (!known) return known;
    r.shape.sort = options.text("sort")[0];
  }
  if (options.has("-n")) {
    const auto most = parse_whole("-n", options.text("-n"), 1, 1'000'000'000);
    if (!most) return most.error();
    r.shape.most = *most;
  }
  return Done{};
}

}  // namespace

void add_kd_options(Options& options) {
  const std::string columns = "columns, in this order (default Fctal): " + columns_help();
  options.section("The table")(",f", value("COLUMNS"), columns.c_str())(
      ",l", "long: all columns but the last")(",n", value("N"), "only the first N rows")(
      ",t", value("TIME"), "only more time than this: us, or with a unit, as 100ms")(
      "sort", value("COLUMN"), "by this column (default t)");
  options.section("Instead of the table")(",c", "the nested call trace; -l: more columns")(
      ",i", "with -c: tasks and interrupts as they came, not call by call")(
      "histogram", value("NAME"),
      "how long the calls of this function took (or of all that fit a pattern, as 'sys_*')")(
      "functions",
      "of user programs: the time that each function took itself, in its system calls, waiting, "
      "and "
      "in functions that it called")(
      "tasks",
      "what each task did: running, ready, asleep; who woke it, how long it then waited for a CPU; "
      "-l: asleep in which calls, woken by whom")(
      "critical-path", value("PID"),
      "what this task (number or name), and those it waited for, spent the time on: sums; with "
      "--from, --to")("steps", "with --critical-path: the path step by step, too")(
      "offcpu",
      "what each task waited for, in which calls, and who woke it; with --folded, --flamegraph or "
      "--dot the same as paths")("flamegraph",
                                 "an SVG picture: CPU time by task and path of calls")(
      "folded", "the same as lines of a path and its time, in ns")(
      "dot", "the same as a tree for Graphviz")(
      "kft-log",
      "a recording as KFT's text log: a line per call, in the order in which they began");
  add_selection_options(options.section("Which part (calls that began in it; not of a KFT log)"));
  options.section("How it is printed")("json", "as JSON")("csv", "as CSV")(
      "time", value("UNIT"),
      "times in cycles, ns, us, ms or s (default: what suits each; JSON, CSV and --dot: us; "
      "--folded: ns)");
  options.positional("FILE", 1);
}

Result<KdRequest> kd_request(const Options& options) {
  KdRequest r;
  r.long_form = options.has("-l");
  r.interleaved = options.has("-i");
  if (r.interleaved && !options.has("-c")) return usage("-i: only with -c");
  r.steps = options.has("steps");
  if (r.steps && !options.has("critical-path")) return usage("--steps: only with --critical-path");
  if (!options.arguments().empty()) r.file = options.arguments()[0];
  const Status output = choose_output(options, r);
  if (!output) return output.error();
  const Status shape = table_shape(options, r);
  if (!shape) return shape.error();
  if (options.has("time")) {
    const auto unit = parse_unit(options.text("time"));
    if (!unit) return unit.error();
    r.unit = *unit;
  } else if (r.output == KdOutput::folded) {
    r.unit = TimeUnit::ns;  // folded stacks need whole numbers
  } else if (r.format == KdFormat::text && r.output != KdOutput::dot) {
    r.unit = TimeUnit::readable;
  }
  if (options.has("critical-path")) {
    r.process = options.text("critical-path");
    if (!is_task_name(r.process)) {
      const auto pid = parse_pid("--critical-path", r.process);
      if (!pid) return pid.error();
    }
  }
  if (options.has("histogram")) r.histogram = options.text("histogram");
  return r;
}

Result<std::uint64_t> least_time(const Options& options, double ticks_per_second) {
  if (!options.has("-t")) return std::uint64_t{0};
  std::string text = options.text("-t");
  const bool bare = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
  if (bare) text += "us";
  const auto ticks = fkt::parse_duration(text, ticks_per_second);
  if (!ticks) {
    return usage("-t: \"" + options.text("-t") +
                 "\" is no time: give microseconds, or a number with ns, us, ms or s");
  }
  return *ticks;
}

Result<Selection> kd_selection(const Options& options, const Trace* trace, const Reading& reading) {
  if (const auto option = selection_option(options); option && trace == nullptr) {
    return usage(*option + ": not for KFT logs, which are taken whole");
  }
  Result<Selection> selection = selection_request(options);
  if (!selection || trace == nullptr) return selection;
  const Status completed = complete_selection(options, *trace, *selection);
  if (!completed) return completed.error();
  const Status found = find_selected(options, *trace, *selection, reading);
  if (!found) return found.error();
  return selection;
}

}  // namespace fkt::cli
