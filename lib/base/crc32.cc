// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/crc32.h"

#include <array>

namespace fkt {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0xedb88320u : 0);
    table[i] = value;
  }
  return table;
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
  static constexpr auto table = make_table();
  std::uint32_t crc = ~before;
  for (const std::byte b : bytes) {
    crc = table[(crc ^ static_cast<std::uint32_t>(b)) & 0xff] ^ (crc >> 8);
  }
  return ~crc;
}

}  // namespace fkt
