// SPDX-License-Identifier: GPL-2.0-only
// The one pass over the events in which fkt_print prints the dump or a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cli/base/progress.h"
#include "cli/base/selection_options.h"
#include "cli/fkt_print/request.h"
#include "lib/analyse/analysis.h"
#include "lib/read/event_merge.h"

namespace fkt::cli {

inline constexpr std::size_t kFlushBytes = 256 << 10;  // output is written in pieces of this size

// Reads the events from `from` (ticks) up to request.selection.to and calls each(event, place) for
// each, after the analysis has applied it, until that returns false. Returns false if it did. Adds
// the number of events that the selection has to `shown`. before(event) is called before the
// analysis applies it.
template <class Each, class Before>
bool follow(const Recording& recording, const PrintRequest& request, Analysis& analysis,
            std::uint64_t& shown, Each each, Before before,
            std::optional<std::uint64_t> from = {}) {
  constexpr std::uint64_t kProgressEvents = 1 << 18;
  Progress progress("reading");
  const std::uint64_t total = events_of(recording);
  std::uint64_t done = 0;
  for (const Event& event :
       recording.events({.from = from, .to = request.selection.to, .cpu = {}})) {
    before(event);
    const Analysis::Found& place = analysis.add(event);
    if (++done % kProgressEvents == 0) progress.update(done, total);
    shown += place.shown;
    if (!each(event, place)) return false;
  }
  return true;
}

template <class Each>
bool follow(const Recording& recording, const PrintRequest& request, Analysis& analysis,
            std::uint64_t& shown, Each each) {
  return follow(recording, request, analysis, shown, each, [](const Event&) {});
}

}  // namespace fkt::cli
