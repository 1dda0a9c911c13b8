// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/flag_names.h"

#include <fkt/program.h>

#include <algorithm>

namespace fkt {

const FlagNames& FlagNames::none() {
  static const FlagNames empty;
  return empty;
}

Status FlagNames::add(const Action& action) {
  if (action.kind != Action::Kind::set && action.kind != Action::Kind::clear) return Done{};
  const std::optional<Flag> known = find(action.name);
  if (known && known->of_task != action.of_task) {
    return Error{ErrorCode::usage, "the flag \"" + action.name +
                                       "\" is one of the task for some instruments, and one of "
                                       "the recording for others"};
  }
  if (known) return Done{};
  std::vector<std::string>& names = action.of_task ? of_task_ : of_all_;
  const std::size_t most = action.of_task ? FKT_TASK_FLAGS : FKT_PROGRAM_FLAGS;
  if (names.size() == most) {
    return Error{ErrorCode::usage, "too many flags" +
                                       std::string(action.of_task ? " of tasks" : "") +
                                       " (at most " + std::to_string(most) + ")"};
  }
  names.push_back(action.name);
  return Done{};
}

std::optional<FlagNames::Flag> FlagNames::find(std::string_view name) const {
  for (const bool of_task : {false, true}) {
    const std::vector<std::string>& names = of_task ? of_task_ : of_all_;
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) {
      return Flag{static_cast<std::uint16_t>(found - names.begin()), of_task};
    }
  }
  return std::nullopt;
}

std::vector<std::string> FlagNames::names() const {
  std::vector<std::string> all = of_all_;
  all.insert(all.end(), of_task_.begin(), of_task_.end());
  return all;
}

}  // namespace fkt
