// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_paths/paths.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include <fkt/call_place.h>

#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "cli/base/terminal.h"
#include "cli/base/units.h"
#include "cli/fkt_paths/record_paths.h"
#include "lib/base/text.h"
#include "lib/blocks/function_choice.h"
#include "lib/blocks/path_recording.h"
#include "lib/blocks/path_report.h"
#include "lib/format/clocks.h"
#include "lib/read/damage.h"

namespace fkt::cli {
namespace {

constexpr std::uint64_t kMostRows = 1000000;
constexpr std::size_t kRows = 20;

Result<const CodeFunction*> chosen(const Options& options, const CodeImage& image) {
  std::optional<std::string> module;
  if (options.has("module")) module = options.text("module");
  const std::string& name = options.arguments().front();
  const auto found = FKT_TRY(FunctionChoice(image, module).named({name}));
  if (found.size() == 1) return found.front();
  return usage(fmt::format("{} functions are called \"{}\": name one, or its module by --module",
                           found.size(), name));
}

// Adds what the recorder itself knows of calls and ways that it could not record.
void add_counts(PathReport& report, const RecordingInfo& info) {
  if (info.totals) report.lost = info.totals->lost;
  if (!info.hits) return;
  for (const InstrumentResult& result : info.hits->instruments) {
    if (result.has_calls) report.calls += result.hits();
    if (result.of != "instruction") continue;
    for (const auto& [word, count] : result.hits().missed) report.missed_ways[word] += count;
  }
}

Status show(const Options& options, const FunctionPaths& paths, SourceLines& lines,
            const std::string& file) {
  const auto recording = FKT_TRY(Recording::open(file));
  PathProfile profile(paths.numbers());
  read_paths(recording, paths, profile);
  if (const std::string damage = damage_of(recording); !damage.empty()) warn(damage);
  PathReport report{paths, profile, &lines, recording.info().clocks.ticks_per_second(),
                    recording_start(recording.info())};
  add_counts(report, recording.info());
  TextWriter out;
  if (options.has("json")) {
    write_paths_json(out, report);
  } else {
    std::size_t most = kRows;
    if (options.has("top")) {
      most = static_cast<std::size_t>(
          FKT_TRY(parse_whole("--top", options.text("top"), 1, kMostRows)));
    }
    out.set_columns(terminal(STDOUT_FILENO).width);
    write_paths_text(out, report, most);
  }
  FKT_TRY(put(out.view()));
  return Done{};
}

PathsRequest request_of(const Options& options) {
  PathsRequest request;
  request.only = options.has("only");
  for (const std::string& instrument : options.texts("instrument")) {
    request.options.insert(request.options.end(), {"-i", instrument});
  }
  const auto& arguments = options.arguments();
  request.command.assign(arguments.begin() + 1, arguments.end());
  return request;
}

Result<int> run(const Options& options) {
  if (options.arguments().empty()) return usage("no FUNCTION (--help shows examples)");
  if (options.arguments().size() < 2) return usage("no COMMAND: what is to be run?");
  const auto image = FKT_TRY(CodeImage::of_running_kernel());
  const auto paths = FKT_TRY(FunctionPaths::of(image, *FKT_TRY(chosen(options, image))));
  SourceLines lines(image, true);
  if (options.has("debug")) FKT_TRY(lines.use(options.text("debug")));
  const std::size_t places = paths.places().size() - 1;
  if (places > FKT_INSTRUCTIONS_MOST) {
    return usage(fmt::format("{} has {} ways to be watched: the kernel module takes {}",
                             options.arguments().front(), places, FKT_INSTRUCTIONS_MOST));
  }
  const auto folder = FKT_TRY(TemporaryFolder::make());
  PathsRequest request = request_of(options);
  request.file = options.has("output") ? options.text("output") : folder.path() + "/recording";
  const int status = FKT_TRY(record_paths(paths, request));
  // It has said why there is none.
  if (!std::filesystem::exists(request.file)) return status == kDone ? kFailed : status;
  FKT_TRY(show(options, paths, lines, request.file));
  return status;
}

}  // namespace

int paths(int argc, const char* const* argv) {
  Options options("[options] FUNCTION COMMAND [ARGUMENT...]",
                  "Shows which paths are taken through a function of the kernel while a command "
                  "runs, how often,\nand how long they take: from its entry, or the end of a "
                  "round of a loop, to the next one or its end.");
  auto what = options.section("What is recorded");
  what("module", value("NAME"), "the function of this module");
  what("only", "calls by the command and its descendants alone");
  what("instrument,i", values("INSTRUMENT"), "record this too, as fkt_record -i");
  what("output,o", value("FILE"), "keep the recording, for fkt_print");
  auto output = options.section("What is shown");
  output("top", value("N"), "so many paths, those with the most time (default: 20)");
  output("debug", value("FILE"),
         "the kernel's file with debug information, for source lines (default: where Debian's "
         "packages and debuginfod put it)");
  output("json", "JSON instead of the table, with all paths");
  options.command();
  if (const auto status = options.parse(argc, argv)) return *status;
  const auto status = run(options);
  return status ? *status : fail(status.error());
}

}  // namespace fkt::cli
