// SPDX-License-Identifier: GPL-2.0-only
// UTF-8 text from the recorded machine: which of its characters a terminal may be given, and how
// many columns they take there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fkt {

struct Utf8Character {
  std::uint32_t code = 0;
  std::size_t length = 0;  // in bytes; 0: the text does not begin with a character
};

// Returns the first character of a text that is not empty.
Utf8Character first_character(std::string_view text);

// Returns whether the character has no effect but to be seen. Controls move the cursor or begin an
// escape sequence, directions and separators show the characters around them elsewhere, and
// invisible ones make two names look alike.
bool is_harmless(std::uint32_t code);

// Returns the columns that a terminal needs for a text of harmless characters: letters of East Asia
// take two, accents that are written over the letter before them none.
std::size_t columns_of(std::string_view text);

// Returns the longest begin of the text that has room in so many columns.
std::string_view first_columns(std::string_view text, std::size_t columns);

}  // namespace fkt
