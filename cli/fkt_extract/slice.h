// SPDX-License-Identifier: GPL-2.0-only
// Which stretches of the recording fkt_extract's arguments mean.
#pragma once

#include "cli/common.h"
#include "lib/find.h"
#include "lib/trace.h"

namespace fkt::cli {

// Within the recording, ascending and apart, at least one; those that overlap or touch are one.
// Error (usage): what was asked for makes no sense, or nothing
// in the recording is it.
Result<std::vector<Interval>> slice_of(const Options& options, const Trace& trace,
                                       const Reading& reading);

}  // namespace fkt::cli
