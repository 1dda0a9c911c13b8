// SPDX-License-Identifier: GPL-2.0-only
// EarlyStats: the statistics of a whole recording from the scan (lib/scan/scan.h), which ends long
// before the timeline is read. They have the time that each task ran, but not its waits.
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
  // The statistics are of the whole extent of `timeline`, which need not be read yet and must
  // outlive this object.
  explicit EarlyStats(const Timeline& timeline)
      : timeline_(timeline), from_(timeline.begin()), to_(timeline.end()) {}

  // Reads the recording; call it once, and not while anything else reads Recording::events(). When
  // control.stop is set, the statistics are incomplete.
  void read(PassControl& control);

  // Returns whether these are the statistics of [from, to) (ticks).
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
