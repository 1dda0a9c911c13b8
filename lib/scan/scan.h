// SPDX-License-Identifier: GPL-2.0-only
// Reads a recording for the sums of its Analysis, where the single events are not needed:
//
//   fkt::Analysis analysis(recording.info(), selection);
//   fkt::scan(recording, analysis, {.reading = progress});
//   analysis.finish(!selection.to, recording_end(recording));
//
// The result is that of adding all of recording.events(), but pages are digested by several threads
// (lib/scan/digest.h), and the events of a burst (lib/analyse/burst.h) are taken in one step,
// provided that the burst fits the open spans and no event of another CPU concerns its thread.
// Bursts that do not fit are read event by event, which is slower and gives the same sums.
// Views that select single events, and sinks for calls, need every event (Analysis::takes_many()).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "lib/analyse/analysis.h"
#include "lib/analyse/task_activity.h"
#include "lib/read/recording.h"

namespace fkt {

// Called periodically with the number of events read so far; returns false to end the scan.
using ScanProgress = std::function<bool(std::uint64_t)>;

struct ScanOptions {
  unsigned threads = default_threads();
  // false: only the state that Analysis::checkpoint() saves is computed, no statistics.
  bool statistics = true;
  // Times (ticks, ascending) at which the scan will be interrupted (Scanner::run()).
  std::vector<std::uint64_t> stops{};
  ScanProgress progress{};
  // Gets all events as well, if not nullptr; then analysis.watch() must have been called with it.
  // It makes the scan slower: wake-ups are then read one by one.
  TaskActivity* activity = nullptr;
  // Gets the charges and ends that it wants, if not nullptr; then analysis.watch() must have been
  // called with it. Bursts with functions of the tasks that it follows are read event by event.
  BurstObserver* bursts = nullptr;

  // Returns the number of the machine's CPUs, but at most 8.
  static unsigned default_threads();
};

// A scan that can be interrupted, to save the analysis's state.
class Scanner {
 public:
  // Scans up to the end of the analysis's selection or the last of options.stops. `recording` and
  // `analysis` must outlive the scanner. When the analysis's info has a checkpoint, the scan begins
  // there, provided that its selection takes bursts.
  Scanner(const Recording& recording, Analysis& analysis, ScanOptions options);
  ~Scanner();
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  // Adds all events before `clock` (ticks), which is one of options.stops or beyond the end.
  void run(std::uint64_t clock);
  // Completes the statistics; call it after the last run().
  void finish();

 private:
  class Events;
  class Merge;
  std::unique_ptr<Events> events_;  // for selections that do not take bursts
  std::unique_ptr<Merge> merge_;    // for all others
};

// Scans everything and completes the statistics.
void scan(const Recording& recording, Analysis& analysis, ScanOptions options);

}  // namespace fkt
