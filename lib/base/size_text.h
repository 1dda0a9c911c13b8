// SPDX-License-Identifier: GPL-2.0-only
// Sizes as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace fkt {

// "812 bytes", "1.2 MB" (powers of 1000)
std::string bytes_text(std::uint64_t bytes);

}  // namespace fkt
