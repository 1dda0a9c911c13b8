// SPDX-License-Identifier: GPL-2.0-only
// Cutting a slice out of a recording: a whole file again, with the pages that overlap the slice,
// copied as they are, and the state at the cut (lib/cut.h), for which everything before is read
// once. Only the pages that reach over an edge are decoded, to count their events.
#pragma once

#include <cstdint>
#include <string>

#include "lib/find.h"
#include "lib/trace.h"

namespace fkt {

struct SliceSummary {
  std::uint64_t pages = 0, events = 0, lost = 0;
  std::uint64_t bytes = 0;  // of the file
};

// Writes the slice from <= clock < to (ticks, within the recording) to the file `fd`, which is
// empty; `name` is the error line's subject. `reading`: called while what is before is read.
Result<SliceSummary> extract(const Trace& trace, const Interval& slice, int fd,
                             const std::string& name, const Reading& reading);

}  // namespace fkt
