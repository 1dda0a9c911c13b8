// SPDX-License-Identifier: GPL-2.0-only
// Limits that the file format's reader relies on.
#pragma once

#include <cstdint>

namespace fkt {

// More CPUs than any kernel that FKT runs on is built for (NR_CPUS): arrays may be indexed by CPU.
inline constexpr std::uint32_t kMaxCpus = 8192;

}  // namespace fkt
