// SPDX-License-Identifier: GPL-2.0-only
#pragma once

namespace fkt {

inline constexpr const char* kVersion = "0.1";  // of the tools, as --version and the files say it

}  // namespace fkt
