// SPDX-License-Identifier: GPL-2.0-only
// Code for tests, made of bytes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/blocks/code_image.h"

namespace fkt {

inline constexpr std::uint64_t kMadeBegin = 0xffffffff81000000;

// Bytes of "e8 00 ..." as a string.
inline std::string code_bytes(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i++) {
    if (hex[i] == ' ' || hex[i] == '\n') continue;
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    i++;
  }
  return bytes;
}

struct MadeCode {
  CodeImage::Parts parts;

  // Adds code at an offset behind kMadeBegin, which has this name.
  MadeCode& function(std::string_view name, std::uint64_t offset, std::string_view hex) {
    parts.pieces.push_back({kMadeBegin + offset, code_bytes(hex), true});
    parts.texts.push_back(std::make_shared<const std::string>(name));
    parts.symbols.push_back({kMadeBegin + offset, 't', *parts.texts.back(), {}});
    return *this;
  }
  // Adds a table far behind the code. Each entry's first words are distances from themselves.
  MadeCode& table(std::string_view name, std::vector<std::vector<std::uint64_t>> entries,
                  std::size_t entry_bytes) {
    const std::uint64_t begin = kMadeBegin + 0x100000 + parts.tables.size() * 0x1000;
    std::string bytes(entries.size() * entry_bytes, '\0');
    for (std::size_t i = 0; i < entries.size(); i++) {
      for (std::size_t word = 0; word < entries[i].size(); word++) {
        const std::size_t at = i * entry_bytes + word * 4;
        const auto distance =
            static_cast<std::int32_t>(kMadeBegin + entries[i][word] - (begin + at));
        std::memcpy(bytes.data() + at, &distance, sizeof distance);
      }
    }
    parts.tables.push_back({name, {begin, begin + bytes.size()}});
    parts.pieces.push_back({begin, bytes, false});
    return *this;
  }
  CodeImage image() { return CodeImage::finish(parts); }
};

}  // namespace fkt
