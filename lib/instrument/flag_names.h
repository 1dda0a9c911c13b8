// SPDX-License-Identifier: GPL-2.0-only
// The flags that a recording's instruments set: those of the recording, and those of each thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/instrument/action.h"

namespace fkt {

class FlagNames {
 public:
  struct Flag {
    std::uint16_t number = 0;
    bool of_task = false;
  };

  // Without any flags.
  static const FlagNames& none();

  // Adds the flag if it is new and the action sets or clears one. Error (usage): there are too
  // many, or another instrument has a flag with this name that is of the other kind.
  Status add(const Action& action);
  std::optional<Flag> find(std::string_view name) const;
  // Returns whether there are flags of threads.
  bool has_of_task() const { return !of_task_.empty(); }
  std::vector<std::string> names() const;

 private:
  std::vector<std::string> of_all_, of_task_;  // by number
};

}  // namespace fkt
