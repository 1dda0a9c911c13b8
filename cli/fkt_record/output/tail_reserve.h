// SPDX-License-Identifier: GPL-2.0-only
// Space reserved in the output for the sections after the pages.
#pragma once

#include <cstdint>

#include <fkt/file.h>

namespace fkt::record {

// For totals, interrupts and the like; the index is counted per page.
inline constexpr std::uint64_t kTailBytes = 256 << 10;
inline constexpr std::uint64_t kTailBytesPerCpu = 512;
// An index entry, and a group entry because a group may have a single page.
inline constexpr std::uint32_t kTailBytesPerPage =
    sizeof(fkt_index_entry) + sizeof(fkt_group_entry);

inline std::uint64_t tail_reserve(std::uint32_t cpus) {
  return kTailBytes + kTailBytesPerCpu * cpus;
}

}  // namespace fkt::record
