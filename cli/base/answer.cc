// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/answer.h"

#include "cli/base/progress.h"
#include "cli/base/selection_options.h"
#include "lib/base/text.h"
#include "lib/format/clocks.h"
#include "lib/scan/scan.h"

namespace fkt::cli {

bool answer_is_quick(const Recording& recording) {
  constexpr std::uint64_t kEvents = 30'000'000;  // are read in about a second
  constexpr double kPerSecond = 1e6;             // for a few hundredths
  const double ticks = static_cast<double>(recording_end(recording)) -
                       static_cast<double>(recording_start(recording.info()));
  const double seconds = ticks / recording.info().clocks.ticks_per_second();
  const std::uint64_t events = events_of(recording);
  return events <= kEvents || static_cast<double>(events) <= kPerSecond * seconds;
}

std::string answer_hint(const std::string& file) {
  TextWriter line;
  line.put("fkt_print --summary ");
  line.put(shell_word(file));
  line.put(" shows where the time went; of so many events it takes a while\n");
  return line.take();
}

Answer read_answer(const Recording& recording, const Selection& selection, std::size_t rows,
                   std::size_t slowest) {
  Analysis analysis(recording.info(), selection);
  CommandUse use(analysis, slowest);
  analysis.watch(use);
  Progress progress("reading");
  const std::uint64_t total = events_of(recording);
  ScanOptions options;
  options.progress = [&](std::uint64_t done) {
    progress.update(done, total);
    return true;
  };
  options.activity = &use.activity();
  options.bursts = &use;
  scan(recording, analysis, std::move(options));
  analysis.finish(!selection.to, recording_end(recording));
  use.finish(analysis.end());
  return make_answer(use, analysis, summarize(analysis, recording.integrity(), false), rows);
}

void write_answer(TextWriter& out, const Answer& answer, const std::string& file,
                  const Terminal& terminal, const TimeFormat& time) {
  write_answer(out, answer, {file, terminal.width, terminal.colour}, time);
}

}  // namespace fkt::cli
