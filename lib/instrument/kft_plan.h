// SPDX-License-Identifier: GPL-2.0-only
// Turns a configuration of KFT (fkt-kft(5), fkt/kft_parse.h) into instruments and settings of the
// recorder.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/instrument/instrument.h"
#include "lib/instrument/keep_children.h"

namespace fkt {

struct KftPlan {
  std::vector<Instrument> instruments;  // in their order: the triggers first
  // The recording begins at this time since the machine's start; nothing: at once, or with a hit.
  std::optional<std::chrono::nanoseconds> begins_at;
  // Time after its begin at which it ends.
  std::optional<std::chrono::nanoseconds> lasts;
  // Number of recorded calls at which it ends; of a flight recorder: number of the newest calls
  // that are kept.
  std::optional<std::uint64_t> most_calls;
  // The rule of --keep-children; nothing: there is none.
  std::optional<KeepChildren> keep;
  bool waits_for_hit = false;  // an instrument's action is start
  bool overwrites = false;     // it is a flight recorder
  // A description for users: sentences.
  std::vector<std::string> explanation;
};

// Returns the name of the function that begins at this address. Error (usage): there is none, or
// the addresses are hidden.
using FunctionAt = std::function<Result<std::string>(std::uint64_t address)>;

// path: where the text is from, for messages. Error (usage): "PATH:LINE:COLUMN: ...": what is wrong
// and what would be right, or what cannot be done; "--kft: INSTRUMENT: ...": an instrument that it
// comes to is none, such as one of too many functions.
Result<KftPlan> plan_kft(std::string_view text, const std::string& path,
                         const FunctionAt& function_at);

// Returns a duration as options and configurations take it, in the largest unit that it is a
// multiple of: "20ms".
std::string time_text(std::uint64_t ns);

}  // namespace fkt
