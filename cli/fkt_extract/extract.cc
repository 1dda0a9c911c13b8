// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_extract/extract.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fmt/core.h>

#include "cli/base/damage.h"
#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "cli/base/progress.h"
#include "cli/base/selection_options.h"
#include "cli/base/units.h"
#include "cli/fkt_extract/output.h"
#include "cli/fkt_extract/slice.h"
#include "lib/base/text.h"
#include "lib/base/time_format.h"
#include "lib/slice/slice_writer.h"

namespace fkt::cli {
namespace {

void add_options(Options& options) {
  auto add =
      options.section("Which slice (--from and --to again, --pages A-B,C-D: several stretches)");
  add("from", values("T"), "from this time on: 1.5 (s), 250ms, 12000cycles, 14:03:22.5");
  add("to", values("T"), "up to this time");
  add("pages", value("A-B"), "the time of these pages, as numbered by fkt_print -t");
  add("where", value("EXPR"), "from the first to the last event that the expression selects");
  add("task", value("TASK"), "from the first to the last event of this process (number or name)");
  add("context", value("TIME"), "so much more before and after it (default 0)");
  add = options.section("Where to");
  add("output,o", value("SLICE"), "the file to write");
  add("force,f", "overwrite SLICE if there is such a file");
  options.positional("FILE", 1);
}

std::string message(const std::string& file, const Recording& recording,
                    std::span<const Interval> slice, const SliceSummary& written) {
  std::uint64_t ticks = 0;
  for (const Interval& stretch : slice) ticks += stretch.to - stretch.from;
  const TimeFormat seconds(TimeUnit::s, recording.info().clocks.ticks_per_second());
  return file + ": " + seconds.text(ticks) + " s, " +
         (slice.size() == 1 ? "" : fmt::format("{} stretches, ", slice.size())) +
         (written.unreadable == 0 ? ""
                                  : with_commas(written.events - written.unreadable) + " of ") +
         with_commas(written.events) + " events, " + with_commas(written.pages) + " of " +
         with_commas(recording.pages().size()) + " pages, " + bytes_text(written.bytes);
}

int run(const Options& options) {
  if (!options.has("output")) return fail(usage("-o: name the file to write"));
  // Its head is written last.
  const Status named = check_not_stdout("-o", options.text("output"));
  if (!named) return fail(named.error());
  const std::string file = options.arguments().empty() ? "trace_file" : options.arguments()[0];
  const Result<Recording> recording = Recording::open(file);
  if (!recording) return fail(recording.error());
  const std::uint64_t total = events_of(*recording);
  Progress progress("reading");
  const auto reading = [&](std::uint64_t done) { progress.update(done, total); };

  const Result<std::vector<Interval>> slice = slice_of(options, *recording, reading);
  if (!slice) return fail(slice.error(), file, *recording);
  Result<NewFile> output = NewFile::create(options.text("output"), options.has("force"));
  if (!output) return fail(output.error());
  CheckpointCache cache(*recording, cache_folder());
  const auto written = write_slice(*recording, *slice, output->fd(), output->name(),
                                   {.reading = reading, .cache = &cache});
  if (!written) return fail(written.error());
  // An error is ignored: without the stored states the next slice takes longer, but this one is
  // complete.
  static_cast<void>(cache.keep());
  const Status kept = output->keep();
  if (!kept) return fail(kept.error());
  warn(message(output->name(), *recording, *slice, *written));
  return say_damage(file, *recording);
}

}  // namespace

int extract_slice(int argc, const char* const* argv) {
  Options options("[options] -o SLICE [FILE]",
                  "Cuts a slice out of a recording: FILE (default trace_file), or - for standard "
                  "input.");
  add_options(options);
  if (const auto status = options.parse(argc, argv)) return *status;
  return run(options);
}

}  // namespace fkt::cli
