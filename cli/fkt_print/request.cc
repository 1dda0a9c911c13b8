// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_print/request.h"

#include <algorithm>
#include <vector>

#include "lib/analysis.h"
#include "lib/clock.h"
#include "lib/suggest.h"

namespace fkt::cli {
namespace {

constexpr std::uint64_t kMostSlowest = 1'000'000;  // rows of a table

Result<std::uint32_t> pid_of(std::string_view option, std::string_view text) {
  const Result<std::uint64_t> pid = parse_whole(option, text, 1, FKT_PID_MASK);
  if (!pid) return pid.error();
  return static_cast<std::uint32_t>(*pid);
}

Result<unsigned> layer_of(const Catalogue& catalogue, const std::string& text) {
  if (const Layer* layer = catalogue.layer(text)) return layer->bit;
  std::vector<std::string> names;
  for (const Layer& layer : catalogue.layers()) {
    if (std::to_string(layer.bit) == text) return layer.bit;
    names.push_back(layer.name);
  }
  return usage("--layer: no layer \"" + text + "\"" + did_you_mean(text, names));
}

// The options that look for places in the recording.
Status find_request(const Options& options, PrintRequest& r) {
  if (options.has("where")) r.where = options.text("where");
  if (options.has("around")) r.around = options.text("around");
  if (options.has("window")) r.window = options.text("window");
  if (options.has("-t")) {
    r.time_table = options.text("-t");
    // The table comes from the index, at once: alone, it does not wait for the events.
    r.time_table_only =
        !options.has("dump") && !options.has("stats") && !r.counts && !options.has("slowest");
  }
  if (options.has("slowest")) {
    const std::string& text = options.text("slowest");
    const std::size_t blank = std::min(text.find(' '), text.size());
    const auto most = parse_whole("--slowest", text.substr(0, blank), 1, kMostSlowest);
    if (!most) return most.error();
    r.slowest = {static_cast<std::size_t>(*most), text.substr(std::min(blank + 1, text.size()))};
    if (r.slowest->name.empty()) return usage("--slowest: needs a number and a name");
    if (r.around) return usage("--around and --slowest: only one of the two");
    if (r.counts) return usage("--counts and --slowest: only one of the two");
  }
  if (r.window && !r.around && !r.slowest) {
    return usage("--window: needs --around or --slowest");
  }
  return Done{};
}

}  // namespace

void add_print_options(Options& options) {
  options.section("What is printed (default: the events, then the statistics)")(
      "dump", "the events only")("stats", "the statistics only")(
      "counts", "counts only: lines COUNT<TAB>LAYER<TAB>NAME, most first")(
      "diff", value("OLD"), "what became slower from OLD to FILE, function by function")(
      "json", "as JSON: one object a line for events, one for the statistics")(
      "csv", "with --diff: as CSV")("time", value("UNIT"),
                                    "times in cycles (default), ns, us or s")(
      ",k", "leave user-level time out of the histogram")(
      "slowest", value("N NAME"), "the N longest spans of that name (a system call's, ...)")(
      ",t", value("TABLE"), "write when each page was filled to this file (for fkt_extract)");
  options.section("Which part")(",s", value("PID"), "statistics only while this process is alive")(
      ",p", value("[+]PID"), "events only while this process is alive; with +, its own only")(
      "cpu", value("N"), "only this CPU")("layer", value("L"),
                                          "only events of this layer (name or bit)")(
      "from", value("T"), "from this time on: 250ms, 1.5s, 12000 (cycles), 14:03:22.5")(
      "to", value("T"), "up to this time")(
      "where", value("EXPR"), "only events like 'name ~ \"sys_*\" && duration > 1ms && cpu == 2'")(
      "around", value("EVENT"), "only what happened near this event: a name, or an expression")(
      "window", value("W"), "how near: so long before and after it (default 10ms)");
  options.two_words("slowest");
  options.positional("FILE", 1);
}

Result<PrintRequest> print_request(const Options& options) {
  PrintRequest r;
  if (options.has("csv")) return usage("--csv: only with --diff");
  const bool dump = options.has("dump"), stats = options.has("stats");
  r.counts = options.has("counts");
  if (r.counts && stats) return usage("--counts and --stats: only one of the two");
  r.dump = dump || (!stats && !r.counts);
  r.statistics = !r.counts && (stats || !dump);
  r.json = options.has("json");
  r.without_user = options.has("-k");
  if (!options.arguments().empty()) r.file = options.arguments()[0];
  if (options.has("time")) {
    const std::string& text = options.text("time");
    const auto unit = TimeFormat::parse(text);
    if (!unit) return usage("--time: \"" + text + "\" is not one of cycles, ns, us, s");
    r.unit = *unit;
  }
  const Status found = find_request(options, r);
  if (!found) return found.error();
  if (options.has("-s")) {
    const auto pid = pid_of("-s", options.text("-s"));
    if (!pid) return pid.error();
    r.view.stats_pid = *pid;
  }
  if (options.has("-p")) {
    std::string_view text = options.text("-p");
    r.view.dump_only = text.starts_with('+');
    if (r.view.dump_only) text.remove_prefix(1);
    const auto pid = pid_of("-p", text);
    if (!pid) return pid.error();
    r.view.dump_pid = *pid;
  }
  return r;
}

Status complete_view(const Options& options, const Trace& trace, View& view) {
  for (const char* name : {"from", "to"}) {
    if (!options.has(name)) continue;
    const auto clock = parse_time(options.text(name), trace.info(), recording_end(trace));
    if (!clock) return usage("--" + std::string(name) + ": " + clock.error().message);
    (std::string_view(name) == "from" ? view.from : view.to) = *clock;
  }
  if (view.from && view.to && *view.from >= *view.to) return usage("--from: not before --to");
  if (options.has("layer")) {
    const auto layer = layer_of(trace.info().catalogue, options.text("layer"));
    if (!layer) return layer.error();
    view.layer = *layer;
  }
  if (options.has("cpu")) {
    const auto cpu = parse_whole("--cpu", options.text("cpu"), 0, 0xffff);
    if (!cpu) return cpu.error();
    view.cpu = static_cast<std::uint32_t>(*cpu);
    const bool known = std::any_of(trace.pages().begin(), trace.pages().end(),
                                   [&](const PageRef& page) { return page.cpu == *view.cpu; });
    if (!known) return usage("--cpu: nothing of cpu " + options.text("cpu") + " in the recording");
  }
  return Done{};
}

}  // namespace fkt::cli
