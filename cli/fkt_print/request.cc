// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_print/request.h"

#include <algorithm>

#include "cli/base/messages.h"
#include "cli/base/selection_options.h"
#include "cli/base/units.h"

namespace fkt::cli {
namespace {

constexpr std::uint64_t kMostSlowest = 1'000'000;  // rows of a table
constexpr std::uint64_t kMostWhy = 1000;           // calls, each of which reads the recording once

// Reads the options that search the recording or write tables of it.
Status find_request(const Options& options, PrintRequest& r) {
  if (options.has("-t")) r.time_table = options.text("-t");
  if (options.has("-b")) r.buffer_table = options.text("-b");
  // The table of pages is made from the index alone, so without other output the events need not be
  // read.
  r.tables_only = (options.has("-t") || options.has("-b")) && !options.has("dump") &&
                  !options.has("stats") && !r.counts && !options.has("slowest");
  if (options.has("slowest")) {
    const std::string& text = options.text("slowest");
    const std::size_t blank = std::min(text.find(' '), text.size());
    const auto most = FKT_TRY(parse_whole("--slowest", text.substr(0, blank), 1, kMostSlowest));
    r.slowest = {static_cast<std::size_t>(most), text.substr(std::min(blank + 1, text.size()))};
    if (r.slowest->name.empty()) return usage("--slowest: needs a number and a name");
    // Without --window there is no other table.
    if (options.has("top") && !options.has("window")) {
      return usage("--top: not for --slowest, whose first word is the number of rows");
    }
    if (options.has("around")) return usage("--around and --slowest: only one of the two");
    if (r.counts) return usage("--counts and --slowest: only one of the two");
  }
  return Done{};
}

// Reads --why and -n.
Status why_request(const Options& options, PrintRequest& r) {
  if (!options.has("why")) {
    if (options.has("-n")) return usage("-n: only with --why");
    return Done{};
  }
  for (const char* other :
       {"dump", "stats", "counts", "slowest", "window", "csv", "top", "files", "disks", "sockets",
        "locks", "calls", "sched", "stacks", "summary", "-t", "-b"}) {
    if (options.has(other))
      return usage("--why and " + options.shown(other) + ": only one of the two");
  }
  std::uint64_t most = 1;
  if (options.has("-n")) most = FKT_TRY(parse_whole("-n", options.text("-n"), 1, kMostWhy));
  r.why = {static_cast<std::size_t>(most), options.text("why")};
  return Done{};
}

// Reads the options that print a table and nothing else.
Status read_view(const Options& options, PrintRequest& r) {
  constexpr std::pair<const char*, View> kViews[] = {
      {"files", View::files},   {"disks", View::disks},    {"sockets", View::sockets},
      {"locks", View::locks},   {"calls", View::calls},    {"sched", View::sched},
      {"stacks", View::stacks}, {"summary", View::summary}};
  const char* chosen = nullptr;
  for (const auto& [name, view] : kViews) {
    if (!options.has(name)) continue;
    if (chosen != nullptr) {
      return usage("--" + std::string(chosen) + " and --" + name + ": only one of the two");
    }
    chosen = name;
    r.view = view;
  }
  if (options.has("top")) {
    const bool events = r.view == View::none && !r.statistics && !r.counts;
    if (events || r.view == View::stacks) return usage("--top: only with tables and statistics");
    r.top = FKT_TRY(read_top(options));
  }
  if (chosen == nullptr) return Done{};
  if (r.view == View::stacks && (options.has("json") || options.has("csv"))) {
    return usage("--stacks: only as lines of text, not with --json or --csv");
  }
  for (const char* other : {"dump", "stats", "counts", "slowest", "-t", "-b"}) {
    if (!options.has(other)) continue;
    return usage("--" + std::string(chosen) + " and " + options.shown(other) +
                 ": only one of the two");
  }
  if (r.view == View::summary) {
    for (const char* part : {"-s", "-p", "-k", "cpu", "layer", "where", "around", "task"}) {
      if (!options.has(part)) continue;
      // What a task waits for depends on the events of all CPUs and tasks.
      return usage(options.shown(part) + ": not with --summary; --from and --to are");
    }
  }
  r.dump = r.statistics = false;
  return Done{};
}

Status choose_format(const Options& options, PrintRequest& r) {
  r.json = options.has("json");
  r.csv = options.has("csv");
  if (!r.csv) return Done{};
  for (const char* other : {"json", "dump", "window"}) {
    if (options.has(other))
      return usage("--csv and --" + std::string(other) + ": only one of the two");
  }
  if (!r.counts && !options.has("stats") && !options.has("slowest") && r.view == View::none) {
    return usage("--csv: only with --stats, --counts, --slowest, a table or --diff");
  }
  return Done{};
}

}  // namespace

void add_print_options(Options& options) {
  auto add = options.section("What is printed (default: the events, then the statistics)");
  add("dump", "the events only");
  add("stats", "the statistics only");
  add("counts", "counts only: lines COUNT<TAB>LAYER<TAB>NAME, most first");
  add("diff", value("OLD"),
      "what became slower from OLD to FILE, which must be named, function by function");
  add("per-second", "with --diff: rates, to compare recordings of unequal length");
  add("files", "who read and wrote which file, how much, how long it took (recorded with -k fs)");
  add("disks", "the same of disks (recorded with -k block)");
  add("sockets", "the same of sockets (recorded with -k transport,socket)");
  add("locks",
      "who waited for which lock, how long, and who had it (recorded with -k lock, futexes with "
      "--args)");
  add("calls", "what each task called: how often, how long, which errors");
  add("sched", "a line per run of a task: when, where, waited, ran, woken by whom");
  add("stacks", "how often each stack was recorded (-i '... do stack'), in lines for flame graphs");
  add("summary", "one screen: where the command's time went, its slowest calls");
  add("top", value("N"), "of each table only the first N rows");
  add("json", "as JSON: one object a line for events and tables, one for the statistics");
  add("csv", "as CSV: all but the events");
  add("codes", "with each event its code, in hexadecimal");
  add("time", value("UNIT"),
      "times in cycles, ns, us, ms or s (default: what suits each; in JSON and CSV cycles, but "
      "us where --locks, --calls, --sched, --summary, --why or --diff is given)");
  add(",k", "leave user-level time out of the histogram");
  add("slowest", value("N NAME"), "the N longest spans of that name (a system call's, ...)");
  add("why", value("NAME"),
      "why the slowest of them took so long: its file or peer, what it waited for, for whom");
  add(",n", value("N"), "with --why: the N slowest (default 1)");
  add(",t", value("TABLE"), "write when each page was filled to this file (for fkt_extract)");
  add(",b", value("TABLE"),
      "write how full FKT's own buffers were to this file (needs the layer fkt; see "
      "fkt_bufstats)");
  auto part = options.section("Which part");
  part(",p", value("[+]PID"),
       "events only while this process (number or name) is alive; with +, its own only");
  add_selection_options(part);
  options.two_words("slowest");
  options.positional("FILE", 1);
}

Result<std::size_t> read_top(const Options& options) {
  const auto top = FKT_TRY(parse_whole("--top", options.text("top"), 1, kMostSlowest));
  return static_cast<std::size_t>(top);
}

Result<PrintRequest> print_request(const Options& options) {
  PrintRequest r;
  const bool dump = options.has("dump"), stats = options.has("stats");
  r.counts = options.has("counts");
  if (r.counts && stats) return usage("--counts and --stats: only one of the two");
  r.dump = dump || (!stats && !r.counts);
  r.statistics = !r.counts && (stats || !dump);
  FKT_TRY(read_view(options, r));
  FKT_TRY(choose_format(options, r));
  r.codes = options.has("codes");
  if (r.codes && (!r.dump || r.json)) return usage("--codes: only with the events as text");
  r.without_user = options.has("-k");
  if (r.without_user && !r.statistics) {
    return usage("-k: only with the statistics, which --dump and --counts leave out");
  }
  if (!options.arguments().empty()) r.file = options.arguments()[0];
  if (options.has("time")) {
    r.unit = FKT_TRY(parse_unit(options.text("time")));
  } else if (!r.json && !r.csv) {
    r.unit = TimeUnit::readable;
  } else if (options.has("why") || r.view == View::locks || r.view == View::calls ||
             r.view == View::sched || r.view == View::summary) {
    r.unit = TimeUnit::us;
  }
  FKT_TRY(find_request(options, r));
  FKT_TRY(why_request(options, r));
  if (options.has("-p") && !r.dump && r.view == View::none)
    return usage("-p: only with the events; see -s for the rest");
  if (options.has("-s") && !r.statistics && !r.counts && !r.slowest) {
    return usage("-s: only with the statistics; see -p for the events");
  }
  r.selection = FKT_TRY(selection_request(options, "slowest"));
  if (options.has("-p")) {
    std::string_view text = options.text("-p");
    r.selection.dump_only = text.starts_with('+');
    if (r.selection.dump_only) text.remove_prefix(1);
    if (is_task_name(text)) {
      r.process = text;
    } else {
      r.selection.dump_pid = FKT_TRY(parse_pid("-p", text));
    }
  }
  return r;
}

}  // namespace fkt::cli
