// SPDX-License-Identifier: GPL-2.0-only
#include "lib/calls/function_histogram.h"

#include <algorithm>
#include <vector>

#include "lib/base/suggest.h"
#include "lib/query/expression.h"

namespace fkt {

Result<FunctionHistogram> function_histogram(const Profile& profile, const TypeNames& types,
                                             const std::string& name) {
  std::vector<std::string> known;
  bool found = false;
  FunctionHistogram result;
  result.name = name;
  for (TypeIndex type = 0; type < types.count; type++) {
    const SpanStats& stats = profile.stats(type);
    if (stats.entries == 0) continue;
    known.emplace_back(types.name(type));
    if (!fits(known.back(), name)) continue;
    found = true;
    if (stats.total.count == 0) continue;
    result.functions++;
    result.min = result.count == 0 ? stats.total.min : std::min(result.min, stats.total.min);
    result.max = std::max(result.max, stats.total.max);
    result.count += stats.total.count;
    result.times.add(stats.times);
  }
  if (!found) {
    return Error{ErrorCode::usage,
                 "--histogram: no function \"" + name + "\"" + did_you_mean(name, known)};
  }
  if (result.count > 0) return result;
  return Error{ErrorCode::absent, "--histogram: no call of " + name + " was seen to its end"};
}

}  // namespace fkt
