// SPDX-License-Identifier: GPL-2.0-only
// A source of C or C++ as its compiler sees it, word by word.
#pragma once

#include <string_view>
#include <vector>

namespace fkt::test {

bool is_word(char c);

// Returns the words and signs of a source; "" stands for what is quoted, and nothing for comments
// and lines of the preprocessor.
std::vector<std::string_view> tokens_of(std::string_view text);

}  // namespace fkt::test
