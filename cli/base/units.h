// SPDX-License-Identifier: GPL-2.0-only
// Numbers with units, as users type them and as messages show them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/result.h"
#include "lib/base/size_text.h"
#include "lib/base/text.h"
#include "lib/base/time_format.h"

namespace fkt::cli {

// Parses a size such as "64", "16k" or "1.5G" (powers of 1024) into bytes. `option` is the subject
// of the error message, such as "-s".
Result<std::uint64_t> parse_size(std::string_view option, std::string_view text);
// Parses a duration such as "250ms", "1.5s", "2m" or "1h" into ns; a number without unit counts
// seconds.
Result<std::uint64_t> parse_duration(std::string_view option, std::string_view text);

// Parses the value of --time, the unit in which times are shown.
Result<TimeUnit> parse_unit(const std::string& text);

// Returns whether the text is a time without a unit, which counts seconds.
bool lacks_unit(std::string_view text);
// Returns the time with its unit.
std::string with_unit(std::string_view text);

// Parses a whole number from `least` to `most`.
Result<std::uint64_t> parse_whole(std::string_view option, std::string_view text,
                                  std::uint64_t least, std::uint64_t most);

using fkt::bytes_text;
using fkt::with_commas;

}  // namespace fkt::cli
