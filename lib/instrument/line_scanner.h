// SPDX-License-Identifier: GPL-2.0-only
// Splits an instrument's line into pieces, with the column of each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "lib/base/result.h"
#include "lib/query/expression.h"

namespace fkt {

// Puts a word of the line into quotation marks, for messages.
inline std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

// Takes the pieces of a line one after the other.
class LineScanner {
 public:
  // column: of the text's first character.
  LineScanner(std::string_view text, std::size_t column) : text_(text), first_column_(column) {}

  // Column of the current position.
  std::size_t column() {
    skip_blanks();
    return first_column_ + at_;
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  char peek() { return at_end() ? '\0' : text_[at_]; }

  // Takes the character if it is the next one.
  bool take(char c) {
    if (peek() != c || c == '\0') return false;
    at_++;
    return true;
  }

  // Takes everything up to a blank or one of `ends`, of those without a backslash before them.
  std::string_view take_until(std::string_view ends) {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_blank(text_[at_]) && ends.find(text_[at_]) == ends.npos) {
      at_ = std::min(at_ + (text_[at_] == '\\' ? 2 : 1), text_.size());
    }
    return text_.substr(begin, at_ - begin);
  }
  std::string_view take_word() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) at_++;
    return text_.substr(begin, at_ - begin);
  }

  // Returns the error that `what` was expected at the current position.
  Error expected(const std::string& what) {
    const std::size_t where = column();
    std::string found = "the end";
    if (!at_end()) {
      const std::string_view word = take_word();
      found = "\"" + std::string(word.empty() ? text_.substr(at_, 1) : word) + "\"";
    }
    return at_column(where, found + " where " + what + " should stand");
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t'; }
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) at_++;
  }

  std::string_view text_;
  std::size_t first_column_;
  std::size_t at_ = 0;
};

}  // namespace fkt
