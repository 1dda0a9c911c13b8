// SPDX-License-Identifier: GPL-2.0-only
// Parsing of numbers, escapes and lines in the record file's text sections.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "lib/base/bytes.h"

namespace fkt {

// Returns true and sets `out` when all of `text` is a number that fits the type.
template <class T>
[[nodiscard]] bool parse_number(std::string_view text, T& out, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  out = value;
  return true;
}

// Replaces \xHH by the byte: the reverse of TextWriter::escaped().
inline std::string unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    unsigned char byte = 0;
    if (text.starts_with("\\x") && text.size() >= 4 && parse_number(text.substr(2, 2), byte, 16)) {
      out += static_cast<char>(byte);
      text.remove_prefix(4);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

// Calls `line(text, number)` for each non-empty line, numbered from 1. Returns false, without
// reading further, as soon as `line` does.
template <class Function>
bool for_each_line(std::string_view text, Function line) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view one = take_until(text, '\n');
    if (!one.empty() && !line(one, number)) return false;
  }
  return true;
}

}  // namespace fkt
