// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_print/jump.h"

#include "cli/base/progress.h"
#include "cli/base/selection_options.h"
#include "lib/analyse/async_spans.h"
#include "lib/scan/scan.h"

namespace fkt::cli {
namespace {

// Returns whether the selection chooses events by their time and CPU only.
bool is_of_time(const Selection& s) {
  return !s.where && !s.own && !s.layer && !s.stats_pid && !s.dump_pid && s.parts.empty();
}

}  // namespace

Jump::Jump(const Recording& recording, const PrintRequest& request, const std::string& folder,
           std::uint64_t apart)
    : recording_(recording), info_(recording.info()) {
  const Selection& selection = request.selection;
  const bool dumps = request.dump && !request.statistics && !request.counts;
  if (!dumps || !selection.from || !is_of_time(selection) || info_.stretches() > 1) return;
  to_ = *selection.from;
  // A kept state has no asynchronous spans, such as requests that a disk has.
  if (info_.checkpoint || AsyncSpans(info_.catalogue).any()) return;
  const CheckpointCache cache(recording, folder, apart);
  info_.checkpoint = cache.before(*to_);
}

std::optional<std::uint64_t> Jump::run(Analysis& analysis) const {
  if (!to_ || !analysis.takes_many()) return std::nullopt;
  Progress progress("reading");
  const std::uint64_t total = events_of(recording_);
  ScanOptions options{.statistics = false, .stops = {*to_}};
  options.progress = [&](std::uint64_t done) {
    progress.update(done, total);
    return true;
  };
  Scanner scanner(recording_, analysis, std::move(options));
  scanner.run(*to_);
  analysis.reach(*to_);
  return to_;
}

}  // namespace fkt::cli
