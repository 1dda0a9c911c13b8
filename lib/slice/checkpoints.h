// SPDX-License-Identifier: GPL-2.0-only
// Computes the state of a recording at given moments, for slices that begin there.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/format/checkpoint.h"
#include "lib/read/recording.h"

namespace fkt {

class CheckpointCache;

// Returns the state at each of `moments` (ticks, ascending), before any event of that time.
// `reading` is called periodically with the number of events read or skipped so far; when it
// returns false, nothing is returned. `cache`: states that need not be computed again, to which
// those computed are added; may be nullptr. In the checkpoints returned, `to` is the maximum and
// losses are not filled in.
std::vector<Checkpoint> read_checkpoints(const Recording& recording,
                                         std::span<const std::uint64_t> moments,
                                         CheckpointCache* cache,
                                         const std::function<bool(std::uint64_t)>& reading);

}  // namespace fkt
