// SPDX-License-Identifier: GPL-2.0-only
// Names of programs' functions as they are shown.
#pragma once

#include <string>

namespace fkt {

// Returns a symbol's name as it is shown: of C++, without arguments; without blanks.
std::string function_name(const std::string& symbol);

// Returns the name with "_" for blanks and control characters, cut to 255 bytes.
std::string printable_name(std::string text);

}  // namespace fkt
