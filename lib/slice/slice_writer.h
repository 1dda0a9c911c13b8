// SPDX-License-Identifier: GPL-2.0-only
// Cutting a slice out of a recording. The slice is a complete file with copies of the pages that
// overlap it, and with the state at the cut (lib/format/checkpoint.h). To find that state,
// everything before the slice is read once, or only from the last stored checkpoint on
// (lib/slice/checkpoint_cache.h). Pages that overlap an edge of the slice are decoded to count
// their events. A slice may have several stretches: each has a checkpoint of its own, and is
// counted as a slice of its own would be.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/analyse/search_passes.h"
#include "lib/read/recording.h"
#include "lib/slice/checkpoint_cache.h"

namespace fkt {

struct SliceSummary {
  std::uint64_t pages = 0, events = 0, lost = 0;
  std::uint64_t unreadable = 0;  // of the events: in damaged pages
  std::uint64_t bytes = 0;       // size of the file
};

// Returns the intersections of the intervals `wanted` (ticks, from <= clock < to) with the
// recording, or with the stretches of a slice, in ascending order; those that touch are merged.
std::vector<Interval> stretches_in(const Recording& recording, std::vector<Interval> wanted);

// Slices of at least this size (bytes) are copied while the part before them is read. The place of
// the pages must then be chosen before the size of the state at the cut is known, which leaves some
// room in the file unused.
inline constexpr std::uint64_t kCopyAhead = 16 << 20;

struct SliceOptions {
  Reading reading{};  // called in the caller's thread while the part before is read
  // Checkpoints to start from, to which others are added; nullptr: none.
  CheckpointCache* cache = nullptr;
  std::uint64_t copy_ahead = kCopyAhead;  // bytes
};

// Writes a slice of these stretches, which must come from stretches_in(), to the empty file `fd`.
// name: subject of error messages. Reads all pages before a stretch that no checkpoint covers,
// because a thread may be asleep in a call that began in any of them. Error (io): the file cannot
// be written.
Result<SliceSummary> write_slice(const Recording& recording, std::span<const Interval> stretches,
                                 int fd, const std::string& name, const SliceOptions& options = {});

}  // namespace fkt
