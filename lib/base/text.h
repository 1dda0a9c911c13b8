// SPDX-License-Identifier: GPL-2.0-only
// Small pieces of messages; std::format is not in GCC 12.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

namespace fkt {

// "0x1f"
inline std::string hex(std::uint64_t value) {
  char text[20] = "0x";
  const auto end = std::to_chars(text + 2, text + sizeof text, value, 16).ptr;
  return {text, end};
}

// "1 page", "2 pages"
inline std::string counted(std::uint64_t count, const char* what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

}  // namespace fkt
