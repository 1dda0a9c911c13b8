// SPDX-License-Identifier: GPL-2.0-only
// Cutting a slice out of a recording: a whole file again, with the pages that overlap the slice,
// copied as they are, and the state at the cut (lib/cut.h), for which everything before is read
// once, or from where the state is known on (lib/known_states.h). Only the pages that reach over an
// edge are decoded, to count their events. A slice may have several stretches: each has a cut of
// its own, and counts as a slice of its own would.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/find.h"
#include "lib/known_states.h"
#include "lib/trace.h"

namespace fkt {

struct SliceSummary {
  std::uint64_t pages = 0, events = 0, lost = 0;
  std::uint64_t bytes = 0;  // of the file
};

// Of `wanted` (ticks, from <= clock < to) what is in the recording, or in the stretches of the
// slice that it is: ascending and apart, what touches or overlaps is one.
std::vector<Interval> stretches_in(const Trace& trace, std::vector<Interval> wanted);

// Slices of at least so many bytes are copied while what is before them is read; it costs them room
// that is left for the state at the cut.
inline constexpr std::uint64_t kCopyAhead = 16 << 20;

struct ExtractOptions {
  Reading reading{};             // called while what is before is read, by the caller's thread
  KnownStates* known = nullptr;  // goes on from these, and adds to them
  std::uint64_t copy_ahead = kCopyAhead;  // bytes
};

// Writes a slice of these stretches, as stretches_in() gives them, to the file `fd`, which is
// empty; `name` is the error line's subject.
Result<SliceSummary> extract(const Trace& trace, std::span<const Interval> stretches, int fd,
                             const std::string& name, const ExtractOptions& options = {});

}  // namespace fkt
