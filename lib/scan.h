// SPDX-License-Identifier: GPL-2.0-only
// Reading a recording for what its Analysis adds up, where nobody wants to see each event:
//
//   fkt::Analysis analysis(trace.info(), view);
//   fkt::scan(trace, analysis, {.reading = progress});
//   analysis.finish(!view.to, recording_end(trace));
//
// It comes to the same as adding all of trace.events(), whatever the recording, but pages are
// digested by several threads (lib/digest.h), and the events of a burst are taken in one step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "lib/analysis.h"
#include "lib/trace.h"

namespace fkt {

// Called now and then with the number of events read so far; false: read no further.
using ScanProgress = std::function<bool(std::uint64_t)>;

struct ScanOptions {
  unsigned threads = default_threads();
  // false: only who runs and what is open matters, for Analysis::cut().
  bool statistics = true;
  // The scan will be interrupted there (Scanner::run()); ticks.
  std::vector<std::uint64_t> stops{};
  ScanProgress progress{};

  // As many as the machine has processors, but no more than there is work for.
  static unsigned default_threads();
};

// A scan that can be interrupted.
class Scanner {
 public:
  // Up to the end of the analysis's view, or to options.stops' last. Both must outlive the scanner.
  // An analysis whose info has a cut that the trace has not goes on from there, where its view
  // takes bursts: what is before is read already.
  Scanner(const Trace& trace, Analysis& analysis, ScanOptions options);
  ~Scanner();
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  // Adds everything before `clock`, which is one of options.stops, or the end (ticks).
  void run(std::uint64_t clock);
  // When all was read: only now the statistics are complete.
  void finish();

 private:
  class Events;
  class Merge;
  std::unique_ptr<Events> events_;  // where the view does not allow for bursts
  std::unique_ptr<Merge> merge_;    // else
};

// All of it.
void scan(const Trace& trace, Analysis& analysis, ScanOptions options);

}  // namespace fkt
