// SPDX-License-Identifier: GPL-2.0-only
// Bounds-checked reading of bytes and words from untrusted input: the one place in the reader that
// computes positions in the input.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace fkt {

using ByteView = std::span<const std::byte>;

// Returns `count` bytes from `offset` on; fewer, or none, if the input ends before. Safe against
// overflow.
inline ByteView subview(ByteView in, std::uint64_t offset, std::uint64_t count) {
  if (offset >= in.size()) return {};
  const ByteView rest = in.subspan(offset);
  return count < rest.size() ? rest.first(count) : rest;
}

// Copies a structure out of the input. Returns false and leaves `out` unchanged if the input ends
// within it.
template <class T>
[[nodiscard]] bool read_at(ByteView in, std::uint64_t offset, T& out) {
  static_assert(std::is_trivially_copyable_v<T>);
  const ByteView bytes = subview(in, offset, sizeof out);
  if (bytes.size() < sizeof out) return false;
  std::memcpy(&out, bytes.data(), sizeof out);
  return true;
}

// Returns the text as bytes, without a copy.
inline ByteView as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Returns the bytes as text, without a copy.
inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Returns the bytes as 64-bit words without a copy. They must begin at a multiple of 8, as mappings
// and pages do; a rest of less than a word is dropped.
inline std::span<const std::uint64_t> as_words(ByteView bytes) {
  assert(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) == 0);
  return {reinterpret_cast<const std::uint64_t*>(bytes.data()),
          bytes.size() / sizeof(std::uint64_t)};
}

// Takes words from the front of a span, with bounds asserted by the caller.
class WordCursor {
 public:
  WordCursor() = default;
  explicit WordCursor(std::span<const std::uint64_t> words) : rest_(words) {}

  bool at_end() const { return rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

  // Returns the next word without taking it. Precondition: !at_end().
  std::uint64_t front() const { return rest_.front(); }
  // Takes the next word. Precondition: !at_end().
  std::uint64_t take() {
    const std::uint64_t word = rest_.front();
    rest_ = rest_.subspan(1);
    return word;
  }
  // Takes the next `count` words. Precondition: count <= left().
  std::span<const std::uint64_t> take(std::size_t count) {
    const auto words = rest_.first(count);
    rest_ = rest_.subspan(count);
    return words;
  }

 private:
  std::span<const std::uint64_t> rest_;
};

// Splits off and returns the text up to `separator`, or all of it if there is no separator. The
// separator is dropped.
inline std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

}  // namespace fkt
