// SPDX-License-Identifier: GPL-2.0-only
// Distribution of the durations of one function's calls: a row per power of two, and percentiles.
#pragma once

#include <string>

#include "lib/base/result.h"
#include "lib/calls/function_table.h"

namespace fkt {

struct FunctionHistogram {
  FunctionRow row;
  std::vector<Histogram::Octave> octaves;  // in ticks
};

// Error (usage): no function has that name, or none of its calls was seen from begin to end.
Result<FunctionHistogram> function_histogram(const Profile& profile, const TypeNames& types,
                                             const std::string& name);

}  // namespace fkt
