// SPDX-License-Identifier: GPL-2.0-only
// What a configuration of KFT (fkt-kft(5), fkt/kft_parse.h) comes to: instruments, and what a
// recorder does besides.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/instrument/keep_children.h"

namespace fkt {

struct KftPlan {
  // Lines as Instrument::parse() takes them, in their order: the triggers first.
  std::vector<std::string> instruments;
  // The recording begins at this time since the machine's start; nothing: at once, or with a hit.
  std::optional<std::chrono::nanoseconds> begins_at;
  // It ends so long after its begin.
  std::optional<std::chrono::nanoseconds> lasts;
  // It ends when so many calls are recorded; of a flight recorder: so many of the newest ones are
  // kept.
  std::optional<std::uint64_t> most_calls;
  // Calls that recorded calls bring along; nothing: none.
  std::optional<KeepChildren> keep;
  bool waits_for_hit = false;  // an instrument's action is start
  bool overwrites = false;     // it is a flight recorder
  // What it does, in plain words: a sentence each.
  std::vector<std::string> explanation;
};

// Returns the name of the function that begins at this address. Error (usage): there is none, or
// the addresses are hidden.
using FunctionAt = std::function<Result<std::string>(std::uint64_t address)>;

// path: where the text is from, for messages. Error (usage): "PATH:LINE:COLUMN: ...": what is wrong
// and what would be right, or what cannot be done.
Result<KftPlan> plan_kft(std::string_view text, const std::string& path,
                         const FunctionAt& function_at);

// Returns a duration as options and configurations take it, in the largest unit that it is a
// multiple of: "20ms".
std::string time_text(std::uint64_t ns);

}  // namespace fkt
