// SPDX-License-Identifier: GPL-2.0-only
// Writer: a buffer that output is formatted into, and then written in large pieces. One line of a
// dump costs no allocation and no stream state.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace fkt {

class Writer {
 public:
  void put(char c) { data_.push_back(c); }
  void put(std::string_view text) { data_.append(text); }
  void fill(std::size_t count, char c = ' ') { data_.append(count, c); }

  void number(std::uint64_t value) { convert(value, 10); }
  void number_signed(std::int64_t value) { convert(value, 10); }
  void hex(std::uint64_t value) {
    put("0x");
    convert(value, 16);
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
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    right(std::string_view(digits, static_cast<std::size_t>(end - digits)), width);
  }

  // Text from the machine recorded (task names, paths) may hold anything: control bytes and the
  // backslash become \xHH, so that no terminal obeys them.
  void escaped(std::string_view text);
  // The same as a JSON string with its quotes; bytes that are no UTF-8 become U+FFFD.
  void json(std::string_view text);
  // The same as a CSV field (RFC 4180), in quotes where it needs them.
  void csv(std::string_view text);

  std::string_view view() const { return data_; }
  std::size_t size() const { return data_.size(); }
  // Back to an earlier size().
  void truncate(std::size_t size) { data_.resize(size); }
  void clear() { data_.clear(); }

 private:
  template <class T>
  void convert(T value, int base) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value, base).ptr;
    data_.append(digits, end);
  }

  std::string data_;
};

}  // namespace fkt
