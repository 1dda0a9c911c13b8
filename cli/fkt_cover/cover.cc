// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_cover/cover.h"

#include <sys/utsname.h>

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "cli/base/run_command.h"
#include "cli/base/text_file.h"
#include "cli/fkt_cover/watched_blocks.h"
#include "lib/blocks/cover_report.h"
#include "lib/blocks/function_choice.h"
#include "lib/record/cover_device.h"

namespace fkt::cli {
namespace {

std::string running_kernel() {
  struct utsname name {};
  ::uname(&name);
  return fmt::format("{} {}", name.release, name.version);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Writes a report into the file that the option names, if it was given.
template <class Write>
Status write_file(const Options& options, const char* option, Write write) {
  if (!options.has(option)) return Done{};
  auto file = FKT_TRY(TextFile::create(options.text(option)));
  FKT_TRY(write(file.out()));
  return file.flush(true);
}

// Writes all that is asked for, also if one of it fails: a run may have taken long. Returns the
// first error.
Status report(const Options& options, const Coverage& coverage) {
  const Status files[] = {
      write_file(options, "output",
                 [&](TextWriter& out) -> Status {
                   coverage.write(out);
                   return Done{};
                 }),
      write_file(options, "lcov", [&](TextWriter& out) { return write_lcov(out, coverage); }),
      write_file(options, "cobertura",
                 [&](TextWriter& out) { return write_cobertura(out, coverage); })};
  TextWriter out;
  if (options.has("json")) {
    write_cover_json(out, coverage);
  } else {
    write_cover_text(out, coverage);
  }
  FKT_TRY(put(out.view()));
  for (const Status& written : files) {
    if (!written) return written.error();
  }
  return Done{};
}

Result<Coverage> merged(const std::vector<std::string>& paths) {
  Coverage all = FKT_TRY(Coverage::read(paths.front()));
  for (std::size_t i = 1; i < paths.size(); i++) {
    const Status added = all.add(FKT_TRY(Coverage::read(paths[i])));
    if (!added) return Error{added.error().code, paths[i] + ": " + added.error().message};
  }
  return all;
}

Status show_difference(const std::vector<std::string>& paths) {
  if (paths.size() != 2) return usage("--diff takes two files that -o has written");
  const Coverage one = FKT_TRY(Coverage::read(paths[0]));
  const Coverage other = FKT_TRY(Coverage::read(paths[1]));
  TextWriter out;
  FKT_TRY(write_cover_diff(out, one, other));
  FKT_TRY(put(out.view()));
  return Done{};
}

// Functions that the options choose: of modules, by names, or all.
Result<std::vector<const CodeFunction*>> chosen(const Options& options, const CodeImage& image) {
  std::optional<std::string> module;
  if (options.has("module")) module = options.text("module");
  std::vector<std::string> names = options.texts("function");
  if (names.empty()) {
    if (!module && !options.has("all")) {
      return usage("which functions? --module NAME, --function 'PATTERN', or --all");
    }
    names.emplace_back("*");
  }
  const auto found = FunctionChoice(image, module).named(names);
  if (!found && module && options.texts("function").empty()) {
    return usage("no module " + *module + " is loaded that has functions");
  }
  return found;
}

// Runs the command with as many places as the module takes, again for the next ones. Returns the
// last exit status.
Result<int> run_watched(WatchedBlocks& blocks, const std::vector<std::string>& command) {
  const auto addresses = blocks.addresses();
  const std::size_t runs = (addresses.size() + FKT_COVER_MOST - 1) / FKT_COVER_MOST;
  if (runs > 1) {
    warn(fmt::format("{} places, of which the module watches {} at once: the command runs {} times",
                     addresses.size(), FKT_COVER_MOST, runs));
  }
  int status = 0;
  for (std::size_t first = 0; first < addresses.size(); first += FKT_COVER_MOST) {
    const auto some =
        addresses.subspan(first, std::min<std::size_t>(FKT_COVER_MOST, addresses.size() - first));
    auto device = FKT_TRY(CoverDevice::open());
    const auto armed = FKT_TRY(device.arm(some));
    if (armed < some.size()) {
      warn(fmt::format("{} of {} places are not watched: the kernel, or another tracer, has them",
                       some.size() - armed, some.size()));
    }
    status = FKT_TRY(run_command(command));
    blocks.see(first, FKT_TRY(device.states()));
  }
  return status;
}

Result<int> record(const Options& options) {
  const auto image = FKT_TRY(CodeImage::of_running_kernel());
  const auto functions = FKT_TRY(chosen(options, image));
  SourceLines lines(image, true);
  if (options.has("debug")) FKT_TRY(lines.use(options.text("debug")));
  WatchedBlocks blocks(image, functions);
  if (blocks.addresses().empty()) {
    return usage("none of these functions has a block that can be watched (fkt_blocks --why)");
  }
  const int status = FKT_TRY(run_watched(blocks, options.arguments()));
  FKT_TRY(report(options, blocks.coverage(running_kernel(), joined(options.arguments()), &lines)));
  return status;
}

Result<int> run(const Options& options) {
  if (options.arguments().empty()) {
    return usage(options.has("report") || options.has("diff")
                     ? "no FILE: one that -o has written"
                     : "no COMMAND: what is to be run? (--help shows examples)");
  }
  if (options.has("report") && options.has("diff")) {
    return usage("--report and --diff exclude each other");
  }
  if (options.has("diff")) {
    FKT_TRY(show_difference(options.arguments()));
    return kDone;
  }
  if (!options.has("report")) return record(options);
  FKT_TRY(report(options, FKT_TRY(merged(options.arguments()))));
  return kDone;
}

}  // namespace

int cover(int argc, const char* const* argv) {
  Options options("[options] COMMAND [ARGUMENT...] | --report FILE... | --diff FILE FILE",
                  "Shows which blocks of the kernel's functions are executed while a command runs, "
                  "on any CPU.\nThe kernel needs no rebuild; what was executed once costs nothing "
                  "any more.");
  auto what = options.section("Which functions");
  what("function", values("PATTERN"), "these (\"vfs_*\"); may be given several times");
  what("module", value("NAME"), "those of this module alone");
  what("all", "all of the kernel and its modules");
  auto files = options.section("Runs that were recorded");
  files("report", "the arguments are files of -o: shows them together");
  files("diff", "the arguments are two files: what the one has executed and the other has missed");
  auto output = options.section("What is written");
  output("output,o", value("FILE"),
         "the run, or those of --report together, for --report and --diff");
  output("lcov", value("FILE"), "source lines in lcov's format (for genhtml)");
  output("cobertura", value("FILE"), "source lines in Cobertura's format");
  output("debug", value("FILE"),
         "the kernel's file with debug information, for source lines (default: where Debian's "
         "packages and debuginfod put it)");
  output("json", "JSON instead of the table");
  options.command();
  if (const auto status = options.parse(argc, argv)) return *status;
  const auto status = run(options);
  return status ? *status : fail(status.error());
}

}  // namespace fkt::cli
