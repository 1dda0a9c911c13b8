// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/text_writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "lib/base/utf8.h"

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

// Returns whether the byte is a character that stands for itself in every output.
bool is_plain(unsigned char byte) {
  return byte >= 0x20 && byte < 0x7f && byte != '\\';
}

// Tests eight bytes at once: returns true when all of them are plain.
bool all_plain(std::uint64_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kTops = kOnes * 0x80;
  const auto some_below = [](std::uint64_t all, std::uint64_t least) {
    return ((all - kOnes * least) & ~all & kTops) != 0;
  };
  return (bytes & kTops) == 0 && !some_below(bytes, 0x20) && !some_below(bytes ^ kOnes * 0x7f, 1) &&
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

// U+FFFD, which stands for bytes that are no UTF-8.
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

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

void TextWriter::right(std::string_view text, std::size_t width) {
  const std::size_t columns = columns_of(text);
  if (columns < width) fill(width - columns);
  put(text);
}

void TextWriter::left(std::string_view text, std::size_t width) {
  put(text);
  const std::size_t columns = columns_of(text);
  if (columns < width) fill(width - columns);
}

void TextWriter::escaped(std::string_view text, std::string_view more) {
  while (!text.empty()) {  // append plain text in one piece: nearly every name is all plain
    const std::size_t count = std::min(plain_length(text), text.find_first_of(more));
    put(text.substr(0, count));
    text.remove_prefix(std::min(count, text.size()));
    if (text.empty()) return;
    const Utf8Character c = first_character(text);
    const std::size_t length = std::max<std::size_t>(c.length, 1);
    if (c.length > 1 && is_harmless(c.code)) {
      put(text.substr(0, length));
    } else {
      for (const char byte : text.substr(0, length)) {
        put("\\x");
        hex_digits(static_cast<unsigned char>(byte), 2);
      }
    }
    text.remove_prefix(length);
  }
}

void TextWriter::message(std::string_view text) {
  while (!text.empty()) {
    const std::size_t count = std::min(text.find('\\'), text.size());
    escaped(text.substr(0, count));
    text.remove_prefix(count);
    if (text.empty()) return;
    put('\\');
    text.remove_prefix(1);
  }
}

void TextWriter::csv(std::string_view text) {
  const bool quoted = text.find_first_of(",\"\r\n") != std::string_view::npos;
  if (quoted) put('"');
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    if (c.code == 0) {  // no character, or one that readers take for the end of the text
      put(kReplacement);
    } else {
      if (c.code == '"') put('"');
      put(text.substr(0, c.length));
    }
    text.remove_prefix(std::max<std::size_t>(c.length, 1));
  }
  if (quoted) put('"');
}

void TextWriter::json(std::string_view text) {
  put('"');
  while (!text.empty()) {
    // Most texts are short words of ASCII.
    const auto end = std::ranges::find_if(
        text, [](char c) { return c < ' ' || c > '~' || c == '"' || c == '\\'; });
    put(text.substr(0, end - text.begin()));
    text.remove_prefix(end - text.begin());
    if (text.empty()) break;
    const Utf8Character c = first_character(text);
    if (c.length == 0) {
      put("\\ufffd");
    } else if (c.code == '"' || c.code == '\\') {
      put('\\');
      put(text.front());
    } else if (is_harmless(c.code)) {
      put(text.substr(0, c.length));
    } else {
      json_escape(c.code);
    }
    text.remove_prefix(std::max<std::size_t>(c.length, 1));
  }
  put('"');
}

void TextWriter::json_text(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    c.code < 0x20 || is_harmless(c.code) ? put(text.substr(0, c.length)) : json_escape(c.code);
    text.remove_prefix(std::max<std::size_t>(c.length, 1));
  }
}

// Puts \uXXXX; two of them, a surrogate pair, above U+FFFF.
void TextWriter::json_escape(std::uint32_t code) {
  if (code > 0xffff) {
    json_escape(0xd7c0 + (code >> 10));
    code = 0xdc00 | (code & 0x3ff);
  }
  put("\\u");
  hex_digits(code, 4);
}

}  // namespace fkt
