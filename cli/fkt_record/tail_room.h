// SPDX-License-Identifier: GPL-2.0-only
// Room in the output that is kept for what stands behind the pages.
#pragma once

#include <cstdint>

#include <fkt/file.h>

namespace fkt::record {

// Kept for the tail: totals, interrupts, and an index entry per page.
inline constexpr std::uint64_t kTailBytes = 256 << 10;
inline constexpr std::uint64_t kTailBytesPerCpu = 512;
// A group has a page at least.
inline constexpr std::uint32_t kTailBytesPerPage =
    sizeof(fkt_index_entry) + sizeof(fkt_group_entry);

inline std::uint64_t tail_reserve(std::uint32_t cpus) {
  return kTailBytes + kTailBytesPerCpu * cpus;
}

}  // namespace fkt::record
