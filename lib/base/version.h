// SPDX-License-Identifier: GPL-2.0-only
#pragma once

namespace fkt {

// Version of the tools, printed by --version and stored in recordings.
inline constexpr const char* kVersion = "0.1";

}  // namespace fkt
