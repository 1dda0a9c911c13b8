// SPDX-License-Identifier: GPL-2.0-only
#include "lib/slice/checkpoints.h"

#include <algorithm>

#include "lib/format/clocks.h"
#include "lib/scan/scan.h"
#include "lib/slice/checkpoint_cache.h"

namespace fkt {
namespace {

// Number of events in the pages that end before `clock` (ticks).
std::uint64_t events_before(const Recording& recording, std::uint64_t clock) {
  std::uint64_t events = 0;
  for (const PageRef& page : recording.pages()) {
    if (page.end_clock < clock) events += page.events;
  }
  return events;
}

// Moments at which the scan must stop: `moments`, and those after `begin` that `cache` lacks.
std::vector<std::uint64_t> stops(std::span<const std::uint64_t> moments, std::uint64_t begin,
                                 const CheckpointCache* cache) {
  std::vector<std::uint64_t> stops(moments.begin(), moments.end());
  if (cache == nullptr || moments.empty()) return stops;
  for (const std::uint64_t moment : cache->moments()) {
    const bool passed = moment > begin && moment <= moments.back();
    if (passed && !cache->knows(moment)) stops.push_back(moment);
  }
  std::ranges::sort(stops);
  stops.erase(std::unique(stops.begin(), stops.end()), stops.end());
  return stops;
}

}  // namespace

std::vector<Checkpoint> read_checkpoints(const Recording& recording,
                                         std::span<const std::uint64_t> moments,
                                         CheckpointCache* cache,
                                         const std::function<bool(std::uint64_t)>& reading) {
  RecordingInfo info = recording.info();
  std::uint64_t begin = 0, before = 0;
  if (cache != nullptr && !moments.empty()) {
    if (std::optional<Checkpoint> checkpoint = cache->before(moments.front())) {
      begin = checkpoint->from;
      before = events_before(recording, begin);
      info.checkpoint = std::move(*checkpoint);
    }
  }
  bool stopped = false;
  ScanOptions options{.statistics = false, .stops = stops(moments, begin, cache)};
  options.progress = [&](std::uint64_t done) {
    stopped = reading && !reading(before + done);
    return !stopped;
  };
  Analysis analysis(info, {});
  const std::vector<std::uint64_t> all = options.stops;
  Scanner scanner(recording, analysis, std::move(options));
  std::vector<Checkpoint> checkpoints;
  for (const std::uint64_t stop : all) {
    scanner.run(stop);
    if (stopped) return {};
    analysis.reach(stop);
    Checkpoint checkpoint = analysis.checkpoint(stop, kForever);
    const bool damaged = recording.integrity().damaged_pages > 0;
    if (cache != nullptr && !damaged) cache->add(checkpoint);
    if (std::ranges::binary_search(moments, stop)) checkpoints.push_back(std::move(checkpoint));
  }
  return checkpoints;
}

}  // namespace fkt
