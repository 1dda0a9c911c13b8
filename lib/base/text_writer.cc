// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/text_writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace fkt {
namespace {

// The digits "00" to "99".
constexpr std::array<char, 200> kPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; i++) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

bool is_plain(unsigned char byte) {
  return byte >= 0x20 && byte != 0x7f && byte != '\\';
}

// Tests eight bytes at once: returns true when none of them has to be escaped.
bool all_plain(std::uint64_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kTops = kOnes * 0x80;
  const auto some_below = [](std::uint64_t all, std::uint64_t least) {
    return ((all - kOnes * least) & ~all & kTops) != 0;
  };
  return !some_below(bytes, 0x20) && !some_below(bytes ^ kOnes * 0x7f, 1) &&
         !some_below(bytes ^ kOnes * '\\', 1);
}

std::size_t plain_length(std::string_view text) {
  std::size_t count = 0;
  for (std::uint64_t bytes; count + sizeof bytes <= text.size(); count += sizeof bytes) {
    std::memcpy(&bytes, text.data() + count, sizeof bytes);
    if (!all_plain(bytes)) break;
  }
  while (count < text.size() && is_plain(static_cast<unsigned char>(text[count]))) count++;
  return count;
}

// Returns the length of the UTF-8 sequence at the begin of `text`; 0 when there is none.
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
  // Overlong forms, surrogates, and code points above U+10FFFF are invalid.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
      (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90)) {
    return 0;
  }
  return length;
}

}  // namespace

char* put_digits(char* end, std::uint64_t value) {
  while (value >= 100) {
    end -= 2;
    std::memcpy(end, &kPairs[2 * (value % 100)], 2);
    value /= 100;
  }
  if (value < 10) {
    *--end = static_cast<char>('0' + value);
    return end;
  }
  end -= 2;
  std::memcpy(end, &kPairs[2 * value], 2);
  return end;
}

void TextWriter::grow(std::size_t count) {
  data_.resize(std::max({data_.capacity(), 2 * data_.size(), size_ + count}));
}

void TextWriter::put_long(std::string_view text) {
  std::memcpy(room(text.size()), text.data(), text.size());
  size_ += text.size();
}

void TextWriter::decimal(double value, int digits) {
  if (!std::isfinite(value)) return put('-');
  char buffer[64];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, digits);
  if (error != std::errc()) return put('-');
  put(std::string_view(buffer, end));
}

void TextWriter::escaped(std::string_view text) {
  while (!text.empty()) {  // append plain text in one piece: nearly every name is all plain
    const std::size_t count = plain_length(text);
    put(text.substr(0, count));
    if (count == text.size()) return;
    put("\\x");
    hex_digits(static_cast<unsigned char>(text[count]), 2);
    text.remove_prefix(count + 1);
  }
}

void TextWriter::csv(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return put(text);
  put('"');
  for (const char c : text) {
    if (c == '"') put('"');
    put(c);
  }
  put('"');
}

void TextWriter::json(std::string_view text) {
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
