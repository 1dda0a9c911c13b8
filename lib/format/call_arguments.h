// SPDX-License-Identifier: GPL-2.0-only
// The arguments of system calls as strace(1) shows them: names for descriptors that are none,
// flags, commands, signals; NULL; modes in octal. What the words mean is in call_arguments.def.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/format/catalogue.h"
#include "lib/format/number_names.h"

namespace fkt {

using CallWords = std::array<std::uint64_t, 6>;  // as the program passed them

struct CallArgument {
  // text: a path that was recorded.
  enum class Kind : std::uint8_t { other, descriptor, path, text };

  std::string_view name;  // the kernel's: "dfd"
  std::string value;      // "AT_FDCWD"
  Kind kind = Kind::other;
  std::uint64_t word = 0;
};

// Returns the words of an event that begins a system call; nothing: they were not recorded.
std::optional<CallWords> call_words(const EventType& type, const Event& event);

// Returns the arguments that the call has. call: its name without "sys_". Empty: the call is not
// known, or has none.
std::vector<CallArgument> call_arguments(std::string_view call, const CallWords& words);

// Returns the arguments of the call that the event begins. Empty: they were not recorded, or the
// call is not known.
std::vector<CallArgument> call_arguments(const EventType& type, const Event& event,
                                         const NumberNames& names);

}  // namespace fkt
