// SPDX-License-Identifier: GPL-2.0-only
// Tests CRC-32C, the checksum of a page's events: known values, and both implementations.
#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include <fkt/crc32c.h>

namespace {

using Block = std::array<std::uint8_t, 32>;

Block block(unsigned first, int step) {
  Block bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(first + static_cast<unsigned>(step) * i);
  }
  return bytes;
}

std::uint32_t of(const void* bytes, std::uint32_t count) {
  const auto* words = static_cast<const fkt_crc32c_word*>(bytes);
  const std::uint32_t sum = fkt_crc32c(bytes, count);
  CHECK(sum == ~fkt_crc32c_by_table(~0U, words, count));
  return sum;
}

std::uint32_t of(const Block& bytes) {
  alignas(8) Block aligned = bytes;
  return of(aligned.data(), 4);
}

// The definition: the polynomial division, bit by bit.
std::uint32_t bit_by_bit(const std::vector<std::uint64_t>& words) {
  std::uint32_t state = ~0U;
  for (const std::uint64_t word : words) {
    for (int bit = 0; bit < 64; ++bit) {
      const bool out = ((state ^ (word >> bit)) & 1) != 0;
      state = (state >> 1) ^ (out ? 0x82f63b78U : 0);
    }
  }
  return ~state;
}

}  // namespace

TEST_CASE("CRC-32C of the test patterns of iSCSI (RFC 3720, B.4)") {
  CHECK(of(block(0, 0)) == 0x8a9136aa);
  CHECK(of(block(0xff, 0)) == 0x62a8ab43);
  CHECK(of(block(0, 1)) == 0x46dd794e);
  CHECK(of(block(31, -1)) == 0x113fdb5c);
  alignas(8) const std::array<std::uint8_t, 48> command = {
      0x01, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00,
      0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x18, 0x28, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  CHECK(of(command.data(), 6) == 0xd9963a56);
  CHECK(of(command.data(), 0) == 0);
}

TEST_CASE("CRC-32C by instruction, by table and by definition is the same") {
  std::mt19937_64 random(1);
  for (std::size_t count = 0; count < 70; ++count) {
    std::vector<std::uint64_t> words(count);
    for (std::uint64_t& word : words) word = random();
    CHECK(of(words.data(), static_cast<std::uint32_t>(count)) == bit_by_bit(words));
  }
}
