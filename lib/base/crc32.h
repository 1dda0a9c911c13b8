// SPDX-License-Identifier: GPL-2.0-only
// CRC-32 as zlib computes it (polynomial 0xedb88320, reflected): checksums of the record file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fkt {

// Returns the CRC-32 of the bytes. before: the CRC of the bytes that precede them, for data in
// pieces.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace fkt
