// SPDX-License-Identifier: GPL-2.0-only
// Checked reading of bytes and words that nobody vouches for: the one place in the reader where
// positions in the input are computed.
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

// `count` bytes from `offset` on; fewer, or none, where the input ends before. No overflow.
inline ByteView slice(ByteView in, std::uint64_t offset, std::uint64_t count) {
  if (offset >= in.size()) return {};
  const ByteView rest = in.subspan(offset);
  return count < rest.size() ? rest.first(count) : rest;
}

// Copies a structure out of the input; false, and `out` untouched, if it is not all there.
template <class T>
[[nodiscard]] bool read_at(ByteView in, std::uint64_t offset, T& out) {
  static_assert(std::is_trivially_copyable_v<T>);
  const ByteView bytes = slice(in, offset, sizeof out);
  if (bytes.size() < sizeof out) return false;
  std::memcpy(&out, bytes.data(), sizeof out);
  return true;
}

inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The bytes as 64-bit words, in place: the reader copies no event. They must begin on a multiple
// of 8, which mappings and pages do; a rest below a whole word is dropped.
inline std::span<const std::uint64_t> as_words(ByteView bytes) {
  assert(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) == 0);
  return {reinterpret_cast<const std::uint64_t*>(bytes.data()),
          bytes.size() / sizeof(std::uint64_t)};
}

// Takes words from the front of a span, never beyond its end.
class WordCursor {
 public:
  WordCursor() = default;
  explicit WordCursor(std::span<const std::uint64_t> words) : rest_(words) {}

  bool at_end() const { return rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

  // The next word. Precondition: !at_end().
  std::uint64_t take() {
    const std::uint64_t word = rest_.front();
    rest_ = rest_.subspan(1);
    return word;
  }
  // The next `count` words. Precondition: count <= left().
  std::span<const std::uint64_t> take(std::size_t count) {
    const auto words = rest_.first(count);
    rest_ = rest_.subspan(count);
    return words;
  }

 private:
  std::span<const std::uint64_t> rest_;
};

// Splits off the text up to `separator`, which is dropped; all of it when there is none.
inline std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

}  // namespace fkt
