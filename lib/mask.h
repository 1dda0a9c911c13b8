// SPDX-License-Identifier: GPL-2.0-only
// Masks of layers, as the tools' options take and show them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"

namespace fkt {

// "0x401", "1025", or layer names, "system,process"; the two may be mixed: "0x1,process".
// A name or bit that is no layer is an error (code usage) beginning with `option`.
Result<std::uint64_t> parse_mask(std::string_view option, std::string_view text);

// "system,process"; "none" for 0; bits that are no layer as a number behind them.
std::string mask_names(std::uint64_t mask);

// Of every layer.
std::vector<std::string> layer_names();

}  // namespace fkt
