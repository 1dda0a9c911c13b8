// SPDX-License-Identifier: GPL-2.0-only
// Small pieces of messages: numbers, words for a shell.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/text_writer.h"

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

// Returns a line for a person, in which names may be, as TextWriter::message() writes it.
inline std::string printable(std::string_view line) {
  TextWriter out;
  out.message(line);
  return out.take();
}

// Returns the word in quotation marks in which a shell leaves everything as it is; one that a
// terminal may not be given as it is, in those in which a shell reads \xHH.
inline std::string shell_quoted(std::string_view word) {
  if (printable(word) != word) {
    TextWriter safe;
    safe.put("$'");
    safe.escaped(word, "'");
    safe.put('\'');
    return safe.take();
  }
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Returns the word as a shell takes it: in quotation marks if it needs them.
inline std::string shell_word(std::string_view word) {
  static constexpr std::string_view kRead = " '\"$`\\|&;<>()*?[]#~!";
  const bool is_plain = !word.empty() && std::ranges::none_of(word, [](unsigned char c) {
    return c <= ' ' || c >= 0x7f || kRead.find(static_cast<char>(c)) != kRead.npos;
  });
  return is_plain ? std::string(word) : shell_quoted(word);
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
