// SPDX-License-Identifier: GPL-2.0-only
// Finds the name that was probably meant when an unknown one was given.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fkt {

// Returns the least number of letters to insert, drop, replace or swap with their neighbour to make
// `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the first of the nearest names, or nothing when more than a third of the letters differ.
std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& names);

// Returns the end of an error line: "; did you mean \"system\"?", or an empty string.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace fkt
