// SPDX-License-Identifier: GPL-2.0-only
#include "lib/calls/function_histogram.h"

#include "lib/base/suggest.h"

namespace fkt {

Result<FunctionHistogram> function_histogram(const Profile& profile, const TypeNames& types,
                                             const std::string& name) {
  std::vector<std::string> known;
  FunctionHistogram result;
  for (const FunctionRow& row : function_rows(profile, types)) {
    known.push_back(row.name);
    if (row.name == name) result.row = row;
  }
  if (result.row.count == 0) {
    return Error{ErrorCode::usage,
                 "--histogram: no function \"" + name + "\"" + did_you_mean(name, known)};
  }
  for (TypeIndex type = 0; type < types.count; type++) {
    if (types.name(type) == name) result.octaves = profile.stats(type).times.octaves();
  }
  if (!result.octaves.empty()) return result;
  return Error{ErrorCode::absent, "--histogram: no call of " + name + " was seen to its end"};
}

}  // namespace fkt
