// SPDX-License-Identifier: GPL-2.0-only
// Takes what users, and files for them, write in a line apart, with the column of each piece.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "lib/base/result.h"

namespace fkt {

// Returns true for the characters of names: letters, digits and the underscore.
bool is_name_character(char c);

// Puts a word of the line into quotation marks, for messages.
std::string in_quotes(std::string_view text);

// Returns an Error (usage) that begins with the column: "column 12: ...".
Error at_column(std::size_t column, const std::string& what);

// Removes the column from a message of at_column() and returns it. Returns 0, and leaves the
// message unchanged, if it has none.
std::size_t take_column(std::string_view& message);

// A part of a line.
struct Piece {
  std::string_view text;
  std::size_t column = 0;  // of its first character, from 1
};

// Takes the pieces of a line one after the other. Blanks before a piece are left out.
class Lexer {
 public:
  explicit Lexer(Piece line) : text_(line.text), first_column_(line.column) {}

  // Column of the next character.
  std::size_t column() {
    skip_blanks();
    return first_column_ + at_;
  }
  bool at_end() { return rest().empty(); }
  // The next character; 0 at the end.
  char peek() { return at_end() ? '\0' : text_[at_]; }
  std::string_view rest() {
    skip_blanks();
    return text_.substr(at_);
  }

  // Takes the text if it is what comes next.
  bool take(std::string_view text) {
    if (!rest().starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  // Takes the text if it is what comes next, and a blank or the end follows.
  bool take_alone(std::string_view text) {
    Lexer ahead = *this;
    if (ahead.take_until("") != text) return false;
    *this = ahead;
    return true;
  }

  // Takes characters as long as length(what is left of the line) is more than 0: so many belong to
  // the piece.
  template <class Length>
  std::string_view take_while(Length length) {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
      const std::size_t more = length(text_.substr(at_));
      if (more == 0) break;
      at_ = std::min(at_ + more, text_.size());
    }
    return text_.substr(begin, at_ - begin);
  }
  // Takes letters, digits and underscores.
  std::string_view take_word();
  // Takes everything up to a blank or one of `ends`, of those without a backslash before them.
  std::string_view take_until(std::string_view ends);
  // Takes a text with the quotation marks around it, or all up to the end if it is never closed.
  // Returns nothing if no quotation mark comes next.
  std::string_view take_quoted();

  // Returns the error that `what` was expected at the current position.
  Error expected(const std::string& what);

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) at_++;
  }

  std::string_view text_;
  std::size_t first_column_;
  std::size_t at_ = 0;
};

}  // namespace fkt
