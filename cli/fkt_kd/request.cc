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

using Outputs = unsigned;  // a bit for each
constexpr Outputs outputs(std::initializer_list<KdOutput> list) {
  Outputs bits = 0;
  for (const KdOutput output : list) bits |= 1U << static_cast<unsigned>(output);
  return bits;
}

struct Heeded {
  const char* name;  // name for Options::has()
  Outputs by;
  bool by_waits;  // by the table of --offcpu, which is not that of functions
};
constexpr Outputs kRows =
    outputs({KdOutput::table, KdOutput::user_functions, KdOutput::tasks, KdOutput::critical_path});
constexpr Outputs kTable = outputs({KdOutput::table});
constexpr Heeded kHeeded[] = {
    {"json", kRows | outputs({KdOutput::histogram}), true},
    {"csv", kRows | outputs({KdOutput::histogram}), true},
    {"-n", kRows, true},
    {"-f", kTable, false},
    {"sort", kTable, false},
    {"-l", kTable | outputs({KdOutput::trace, KdOutput::tasks}), false},
    {"time", ~outputs({KdOutput::kft_log}), true},
    {"-t", kTable | outputs({KdOutput::user_functions, KdOutput::trace, KdOutput::kft_log}),
     false}};

// Error (usage): an option has no effect on the chosen output. chosen: the option that selected the
// output; nullptr: the table of functions.
Status check_heeded(const Options& options, const KdRequest& r, const char* chosen) {
  const bool waits = r.off_cpu && r.output == KdOutput::table;
  for (const Heeded& option : kHeeded) {
    if (!options.has(option.name)) continue;
    const bool heeded = waits ? option.by_waits : (option.by & outputs({r.output})) != 0;
    if (!heeded) return usage(options.shown(option.name) + ": not for " + chosen);
  }
  return Done{};
}

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
  FKT_TRY(check_heeded(options, r, chosen));
  for (const char* part : {"-s", "cpu", "layer", "where", "around", "task"}) {
    if (!tasks || !options.has(part)) continue;
    if (r.output != KdOutput::critical_path && std::string_view(part) == "task") continue;
    // The states of a task depend on the events of all CPUs, so they cannot be restricted to some.
    return usage(options.shown(part) + ": not for " + chosen + "; --from and --to are");
  }
  if (options.has("json")) r.format = KdFormat::json;
  if (options.has("csv")) r.format = KdFormat::csv;
  return Done{};
}

Status table_shape(const Options& options, KdRequest& r) {
  if (r.long_form) r.shape.columns = kLongColumns;
  if (options.has("-f")) {
    FKT_TRY(check_columns("-f", options.text("-f")));
    r.shape.columns = options.text("-f");
  }
  if (options.has("sort")) {
    FKT_TRY(check_sort("--sort", options.text("sort")));
    r.shape.sort = options.text("sort")[0];
  }
  if (options.has("-n")) {
    r.shape.most = FKT_TRY(parse_whole("-n", options.text("-n"), 1, 1'000'000'000));
  }
  return Done{};
}

}  // namespace

void add_kd_options(Options& options) {
  const std::string columns = "columns, in this order (default Fctal): " + columns_help();
  auto add = options.section("The table");
  add(",f", value("COLUMNS"), columns.c_str());
  add(",l", "long: all columns but the last");
  add(",n", value("N"), "only the first N rows");
  add(",t", value("TIME"), "only more time than this: us, or with a unit, as 100ms");
  add("sort", value("COLUMN"), "by this column (default t)");
  add = options.section("Instead of the table");
  add(",c", "the nested call trace; -l: more columns");
  add(",i", "with -c: tasks and interrupts as they came, not call by call");
  add("histogram", value("NAME"),
      "how long the calls of this function took (or of all that fit a pattern, as 'sys_*')");
  add("functions",
      "of user programs: the time that each function took itself, in its system calls, "
      "waiting, and in functions that it called");
  add("tasks",
      "what each task did: running, ready, asleep; who woke it, how long it then waited for a "
      "CPU; -l: asleep in which calls, woken by whom");
  add("critical-path", value("PID"),
      "what this task (number or name), and those it waited for, spent the time on: sums; with "
      "--from, --to");
  add("steps", "with --critical-path: the path step by step, too");
  add("offcpu",
      "what each task waited for, in which calls, and who woke it; with --folded, --flamegraph "
      "or --dot the same as paths");
  add("flamegraph", "an SVG picture: CPU time by task and path of calls");
  add("folded", "the same as lines of a path and its time, in ns");
  add("dot", "the same as a tree for Graphviz");
  add("kft-log",
      "a recording as KFT's text log: a line per call, in the order in which they began");
  add_selection_options(options.section("Which part (calls that began in it; not of a KFT log)"));
  add = options.section("How it is printed");
  add("json", "as JSON");
  add("csv", "as CSV");
  add("time", value("UNIT"),
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
  FKT_TRY(choose_output(options, r));
  FKT_TRY(table_shape(options, r));
  if (options.has("time")) {
    r.unit = FKT_TRY(parse_unit(options.text("time")));
  } else if (r.output == KdOutput::folded) {
    r.unit = TimeUnit::ns;  // folded stacks need whole numbers
  } else if (r.format == KdFormat::text && r.output != KdOutput::dot) {
    r.unit = TimeUnit::readable;
  }
  if (options.has("critical-path")) {
    r.process = options.text("critical-path");
    if (!is_task_name(r.process)) {
      FKT_TRY(parse_pid("--critical-path", r.process));
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

Status check_for_log(const Options& options, const KdRequest& request) {
  if (const auto option = selection_option(options)) {
    return usage(*option + ": not for KFT logs, which are taken whole");
  }
  if (options.has("time") && request.unit == TimeUnit::cycles) {
    return usage("--time: \"cycles\" is not one of ns, us, ms, s: a KFT log has microseconds");
  }
  if (options.has("-t") && options.text("-t").ends_with("cycles")) {
    return usage("-t: \"" + options.text("-t") + "\": a KFT log has microseconds");
  }
  if (request.off_cpu || request.output == KdOutput::tasks ||
      request.output == KdOutput::critical_path) {
    return usage(request.file + ": a KFT log does not say what its tasks did between calls");
  }
  if (request.output == KdOutput::kft_log) return usage(request.file + ": is a KFT log already");
  if (request.output == KdOutput::user_functions) {
    return usage(request.file + ": a KFT log has nothing of user programs");
  }
  return Done{};
}

Result<Selection> kd_selection(const Options& options, const Recording* recording,
                               const Reading& reading) {
  Result<Selection> selection = selection_request(options);
  if (!selection || recording == nullptr) return selection;
  FKT_TRY(complete_selection(options, *recording, *selection));
  FKT_TRY(find_selected(options, *recording, *selection, reading));
  return selection;
}

}  // namespace fkt::cli
