// SPDX-License-Identifier: GPL-2.0-only
// Layer masks (a bit per layer), as the tools' options take and print them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"

namespace fkt {

// Parses a mask: "0x401", "1025", or layer names, "system,process"; numbers and names may be mixed:
// "0x1,process". An unknown name or bit is an error (code usage) whose message begins with
// `option`.
Result<std::uint64_t> parse_mask(std::string_view option, std::string_view text);

// Returns the names of all layers of the built-in catalogue.
std::vector<std::string> layer_names();

// Returns whether the events of this layer are those of instruments: of its list
// (layers/NAME.layer), or of fkt_record -i.
bool is_list_layer(unsigned bit);
std::vector<std::string> list_layer_names();

}  // namespace fkt
