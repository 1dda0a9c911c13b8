// SPDX-License-Identifier: GPL-2.0-only
// Jump: brings an analysis to the begin of the part that is dumped without adding each event before
// it: by the scan (lib/scan/scan.h), from the last state on that fkt_extract or fkt_selection has
// kept (lib/slice/checkpoint_cache.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/fkt_print/request.h"
#include "lib/analyse/analysis.h"
#include "lib/read/recording.h"
#include "lib/slice/checkpoint_cache.h"

namespace fkt::cli {

class Jump {
 public:
  // folder, apart: as for CheckpointCache.
  Jump(const Recording& recording, const PrintRequest& request,
       const std::string& folder = cache_folder(),
       std::uint64_t apart = CheckpointCache::kLeastApart);
  // Returns the information that the analysis must be made with.
  const RecordingInfo& info() const { return info_; }
  // Adds the events before the part, or none if every event must be added singly. Returns the time
  // (ticks) from which the caller must add the events.
  std::optional<std::uint64_t> run(Analysis& analysis) const;

 private:
  const Recording& recording_;
  RecordingInfo info_;
  std::optional<std::uint64_t> to_;  // ticks; nothing: there is no jump
};

}  // namespace fkt::cli
