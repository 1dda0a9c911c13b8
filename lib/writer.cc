// SPDX-License-Identifier: GPL-2.0-only
#include "lib/writer.h"

#include <cmath>

namespace fkt {
namespace {

// Length of the UTF-8 sequence that `text` begins with; 0 if it begins with none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; i++) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
      (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90)) {
    return 0;
  }
  return length;
}

}  // namespace

void Writer::decimal(double value, int digits) {
  if (!std::isfinite(value)) return put('-');
  char buffer[64];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, digits);
  if (error != std::errc()) return put('-');
  data_.append(buffer, end);
}

void Writer::escaped(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f && c != '\\') {
      put(c);
      continue;
    }
    put("\\x");
    hex_digits(byte, 2);
  }
}

void Writer::csv(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return put(text);
  put('"');
  for (const char c : text) {
    if (c == '"') put('"');
    put(c);
  }
  put('"');
}

void Writer::json(std::string_view text) {
  put('"');
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text.front();
    if (length == 0) {
      put("\\ufffd");
    } else if (c == '"' || c == '\\') {
      put('\\');
      put(c);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      put("\\u00");
      hex_digits(static_cast<unsigned char>(c), 2);
    } else {
      put(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  put('"');
}

}  // namespace fkt
