// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/crc32.h"

#include <zlib.h>

namespace fkt {

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
  if (bytes.empty()) return before;  // for a null pointer zlib returns the CRC of nothing, 0
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace fkt
