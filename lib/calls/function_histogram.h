// SPDX-License-Identifier: GPL-2.0-only
// Distribution of the durations of one function's calls, or of those of all functions that fit a
// pattern.
#pragma once

#include <string>

#include "lib/base/histogram.h"
#include "lib/base/result.h"
#include "lib/calls/function_table.h"

namespace fkt {

struct FunctionHistogram {
  std::string name;           // the function's, or the pattern
  std::size_t functions = 0;  // how many of those that fit it have such calls
  std::uint64_t count = 0, min = 0,
                max = 0;  // of the calls that were seen from begin to end (ticks)
  Histogram times;

  // Returns the percentile; the middle of its bucket may lie outside of what was seen.
  std::uint64_t percentile(double percent) const {
    return std::clamp(times.percentile(percent), min, max);
  }
};

// name: a function's, or a pattern with * and ?. Error (usage): no function has that name;
// (absent): none of its calls was seen from begin to end.
Result<FunctionHistogram> function_histogram(const Profile& profile, const TypeNames& types,
                                             const std::string& name);

}  // namespace fkt
