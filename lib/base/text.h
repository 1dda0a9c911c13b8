// SPDX-License-Identifier: GPL-2.0-only
// Small pieces of messages: numbers, words for a shell.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace fkt {

// "1f"
inline std::string plain_hex(std::uint64_t value) {
  char text[16];
  const auto end = std::to_chars(text, text + sizeof text, value, 16).ptr;
  return {text, end};
}

// "0x1f"
inline std::string hex(std::uint64_t value) {
  return "0x" + plain_hex(value);
}

// Returns the word in quotation marks in which a shell leaves everything as it is.
inline std::string shell_quoted(std::string_view word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Returns the word as a shell takes it: in quotation marks if it needs them.
inline std::string shell_word(std::string_view word) {
  const bool quoted = word.empty() || word.find_first_of(" \t\n'\"$`\\|&;<>()*?[]#~!") != word.npos;
  return quoted ? shell_quoted(word) : std::string(word);
}

// "1,234,567"
inline std::string with_commas(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

// "1 page", "2 pages"
inline std::string counted(std::uint64_t count, const char* what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

}  // namespace fkt
