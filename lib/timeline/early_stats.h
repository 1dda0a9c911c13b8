// SPDX-License-Identifier: GPL-2.0-only
// EarlyStats: the statistics of a whole recording from the scan (lib/scan/scan.h), which has them
// long before the timeline is read. Of tasks they have how long each ran, not what it waited.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "lib/analyse/analysis.h"
#include "lib/timeline/timeline.h"
#include "lib/timeline/window_stats.h"

namespace fkt {

class EarlyStats {
 public:
  // Of all that `timeline` is known to be about before it is read; it must outlive this.
  explicit EarlyStats(const Timeline& timeline)
      : timeline_(timeline), from_(timeline.begin()), to_(timeline.end()) {}

  // Reads the recording; call it once, and not while anything else reads Trace::events(). When
  // control.stop is set, the statistics are incomplete.
  void read(PassControl& control);

  // Whether the window [from, to) (ticks) is the one of these statistics.
  bool is_window(std::uint64_t from, std::uint64_t to) const { return from == from_ && to == to_; }
  // Valid after read(); types and tasks are under the indexes of types() and tasks().
  const WindowStats& stats() const { return *stats_; }
  const SpanTypes& types() const { return analysis_->types(); }
  const Tasks& tasks() const { return analysis_->tasks(); }

 private:
  const Timeline& timeline_;
  const std::uint64_t from_, to_;  // ticks
  std::unique_ptr<Analysis> analysis_;
  std::optional<WindowStats> stats_;
};

}  // namespace fkt
