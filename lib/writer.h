// SPDX-License-Identifier: GPL-2.0-only
// Writer: a buffer that output is formatted into, and then written in large pieces. One line of a
// dump costs no allocation and no stream state.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace fkt {

// Decimal digits that end at `end`, at most kMostDigits of them; returns where they begin.
inline constexpr std::size_t kMostDigits = 20;
char* put_digits(char* end, std::uint64_t value);

class Writer {
 public:
  Writer() = default;
  Writer(Writer&& other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  Writer& operator=(Writer&&) = delete;

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
  // Where at least `count` bytes can be written to; added() says how many were.
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
  // As many hexadecimal digits as given, zeros in front: event ids.
  void hex_digits(std::uint64_t value, int digits) {
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
      put("0123456789abcdef"[(value >> shift) & 15]);
    }
  }
  // Fixed point, as 12.34; not a number and infinity become "-".
  void decimal(double value, int digits);

  // Columns: at least `width` characters, never cut.
  void right(std::string_view text, std::size_t width) {
    if (text.size() < width) fill(width - text.size());
    put(text);
  }
  void left(std::string_view text, std::size_t width) {
    put(text);
    if (text.size() < width) fill(width - text.size());
  }
  void right(std::uint64_t value, std::size_t width) {
    char digits[kMostDigits];
    char* const end = digits + sizeof digits;
    right(std::string_view(put_digits(end, value), end), width);
  }

  // Text from the machine recorded (task names, paths) may hold anything: control bytes and the
  // backslash become \xHH, so that no terminal obeys them.
  void escaped(std::string_view text);
  // The same as a JSON string with its quotes; bytes that are no UTF-8 become U+FFFD.
  void json(std::string_view text);
  // The same as a CSV field (RFC 4180), in quotes where it needs them.
  void csv(std::string_view text);

  std::string_view view() const { return {data_.data(), size_}; }
  std::size_t size() const { return size_; }
  // What was written, without a copy; the writer is empty then.
  std::string take() {
    data_.resize(std::exchange(size_, 0));
    return std::exchange(data_, {});
  }
  // Back to an earlier size().
  void truncate(std::size_t size) { size_ = size; }
  void clear() { size_ = 0; }

 private:
  static constexpr std::size_t kShort = 64;  // what nearly every text is

  void grow(std::size_t count);
  [[gnu::noinline]] void put_long(std::string_view text);

  std::string data_;  // longer than what was written, so that writing seldom asks for more
  std::size_t size_ = 0;
};

}  // namespace fkt
