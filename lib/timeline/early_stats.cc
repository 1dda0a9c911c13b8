// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/early_stats.h"

#include "lib/scan/scan.h"

namespace fkt {

void EarlyStats::read(PassControl& control) {
  const Recording& recording = timeline_.recording();
  Selection window;
  window.from = from_;
  window.to = to_;
  analysis_ = std::make_unique<Analysis>(recording.info(), window);
  analysis_->keep_histograms();
  control.total += events_of(recording);
  const auto progress = [&](std::uint64_t events) {
    control.done = events;
    return !control.stop;
  };
  scan(recording, *analysis_, {.progress = progress});
  control.done = control.total.load();
  analysis_->finish(!control.stop, recording_end(recording));
  stats_.emplace(from_, to_, timeline_.tasks());
  stats_->take(*analysis_);
}

}  // namespace fkt
