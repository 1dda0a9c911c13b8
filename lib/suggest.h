// SPDX-License-Identifier: GPL-2.0-only
// The name that somebody who mistyped one probably meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fkt {

// Number of letters to insert, drop, replace or swap with their neighbour to make `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The first of the nearest names; nothing when more than a third of the letters are wrong.
std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& names);

// The end of an error line: "; did you mean \"system\"?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace fkt
