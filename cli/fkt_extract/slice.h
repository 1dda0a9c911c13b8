// SPDX-License-Identifier: GPL-2.0-only
// Evaluates the options of fkt_extract that select intervals of the recording.
#pragma once

#include "cli/base/options.h"
#include "lib/analyse/search_passes.h"
#include "lib/read/recording.h"

namespace fkt::cli {

// Returns at least one interval; they lie within the recording, are sorted and do not overlap or
// touch. Returns ErrorCode::usage if the options contradict each other, ErrorCode::absent if they
// select nothing.
Result<std::vector<Interval>> slice_of(const Options& options, const Recording& recording,
                                       const Reading& reading);

}  // namespace fkt::cli
