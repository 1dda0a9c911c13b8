// SPDX-License-Identifier: GPL-2.0-only
// Calls that are recorded although their instrument drops them, because a call that they are in is
// recorded (fkt_keep).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/result.h"

namespace fkt {

struct KeepChildren {
  std::uint32_t levels = 0;   // below the recorded call, at most; 0: all
  std::uint32_t percent = 0;  // of its duration, at least; 0: all

  // Parses "", "3", "10%" or "3,10%". Error (usage): another form; it names the right ones.
  static Result<KeepChildren> parse(std::string_view text);
  // Returns the rule in the form that parse() takes.
  std::string text() const;
  // Returns the rule as a clause: "with each of them, however short they are, the calls ...".
  std::string words() const;
};

}  // namespace fkt
