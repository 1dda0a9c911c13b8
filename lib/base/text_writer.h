// SPDX-License-Identifier: GPL-2.0-only
// TextWriter: a buffer into which output is formatted, to be written out in large pieces. Unlike a
// stream it needs no allocation per line and has no formatting state.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace fkt {

// Writes decimal digits, at most kMostDigits, that end before `end`; returns where they begin.
inline constexpr std::size_t kMostDigits = 20;
char* put_digits(char* end, std::uint64_t value);

class TextWriter {
 public:
  TextWriter() = default;
  TextWriter(TextWriter&& other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  TextWriter& operator=(TextWriter&&) = delete;

  void put(char c) {
    *room(1) = c;
    size_++;
  }
  void put(std::string_view text) {
    if (text.size() > kShort) [[unlikely]]
      return put_long(text);
    char* const at = room(text.size());
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    size_ += text.size();
  }
  void fill(std::size_t count, char c = ' ') {
    std::char_traits<char>::assign(room(count), count, c);
    size_ += count;
  }
  // The columns of the terminal that the text is for, to which tables are fitted; 0: there is none,
  // or its width is not known.
  void set_columns(std::size_t columns) { columns_ = columns; }
  std::size_t columns() const { return columns_; }
  // Returns room for at least `count` bytes; added() appends as many as were written there.
  char* room(std::size_t count) {
    if (data_.size() - size_ < count) [[unlikely]]
      grow(count);
    return data_.data() + size_;
  }
  void added(std::size_t count) { size_ += count; }

  void number(std::uint64_t value) {
    char digits[kMostDigits];
    char* const end = digits + sizeof digits;
    put(std::string_view(put_digits(end, value), end));
  }
  void number_signed(std::int64_t value) {
    if (value < 0) put('-');
    number(value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value));
  }
  void hex(std::uint64_t value) {
    char digits[18] = "0x";
    put(std::string_view(digits, std::to_chars(digits + 2, digits + sizeof digits, value, 16).ptr));
  }
  // Writes exactly `digits` hexadecimal digits, with leading zeros: event ids.
  void hex_digits(std::uint64_t value, int digits) {
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
      put("0123456789abcdef"[(value >> shift) & 15]);
    }
  }
  // Writes fixed point, as 12.34; "-" for infinity and what is not a number.
  void decimal(double value, int digits);

  // Columns: padded to `width` columns of a terminal, never cut.
  void right(std::string_view text, std::size_t width);
  void left(std::string_view text, std::size_t width);
  void right(std::uint64_t value, std::size_t width) {
    char digits[kMostDigits];
    char* const end = digits + sizeof digits;
    right(std::string_view(put_digits(end, value), end), width);
  }

  // Writes text from the recorded machine (task names, paths), which may contain anything: the
  // backslash, bytes that are no UTF-8, and characters that are not harmless (lib/base/utf8.h)
  // become \xHH, so that they have no effect on a terminal, and unescaped() returns the text. more:
  // further ASCII characters that become \xHH.
  void escaped(std::string_view text, std::string_view more = {});
  // Writes a line for a person, in which backslashes stand for themselves, and names may be escaped
  // already; all else as escaped().
  void message(std::string_view text);
  // Writes text as a JSON string with quotes; bytes that are no UTF-8 become U+FFFD, and a terminal
  // that the string is shown on is given harmless characters alone.
  void json(std::string_view text);
  // Writes a whole JSON text of valid UTF-8 so that a terminal is given harmless characters alone.
  void json_text(std::string_view text);
  // Writes text as a CSV field (RFC 4180), quoted if necessary; bytes that are no UTF-8 become
  // U+FFFD.
  void csv(std::string_view text);

  std::string_view view() const { return {data_.data(), size_}; }
  std::size_t size() const { return size_; }
  // Moves out what was written; the writer is empty afterwards.
  std::string take() {
    data_.resize(std::exchange(size_, 0));
    return std::exchange(data_, {});
  }
  // Drops what was written after size() was `size`.
  void truncate(std::size_t size) { size_ = size; }
  void clear() { size_ = 0; }

 private:
  // Length of the longest text that put() copies inline; nearly all are shorter.
  static constexpr std::size_t kShort = 64;

  void grow(std::size_t count);
  void json_escape(std::uint32_t code);
  [[gnu::noinline]] void put_long(std::string_view text);

  std::string data_;  // longer than what was written, so that it is seldom resized
  std::size_t columns_ = 0;
  std::size_t size_ = 0;
};

}  // namespace fkt
