// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/answer.h"

#include "cli/base/progress.h"
#include "cli/base/selection_options.h"
#include "lib/read/event_merge.h"

namespace fkt::cli {

Answer read_answer(const Trace& trace, const Selection& selection, std::size_t rows,
                   std::size_t slowest) {
  constexpr std::uint64_t kProgressEvents = 1 << 18;
  Analysis analysis(trace.info(), selection);
  CommandUse use(analysis, slowest);
  analysis.watch(use);
  Progress progress("reading");
  const std::uint64_t total = events_of(trace);
  std::uint64_t done = 0;
  for (const Event& event : trace.events({.from = {}, .to = selection.to, .cpu = {}})) {
    use.add(event, analysis.add(event));
    if (++done % kProgressEvents == 0) progress.update(done, total);
  }
  analysis.finish(!selection.to, recording_end(trace));
  use.finish(analysis.end());
  return make_answer(use, analysis, summarize(analysis, trace.integrity(), false), rows);
}

void write_answer(TextWriter& out, const Answer& answer, const std::string& file,
                  const Terminal& terminal, const TimeFormat& time) {
  write_answer(out, answer, {file, terminal.width, terminal.colour}, time);
}

}  // namespace fkt::cli
