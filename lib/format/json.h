// SPDX-License-Identifier: GPL-2.0-only
// For the files of this project that write or read JSON sections. Not installed: programs that use
// the library need no nlohmann-json.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <fkt/ioctl.h>

namespace fkt {

// Returns JSON text in which bytes that are no UTF-8 are replaced by U+FFFD.
std::string dump_json(const nlohmann::json& json);

// The values of all clocks at one moment, as the members "start" and "end" of sections hold them.
nlohmann::json clock_pair_json(const fkt_clocks& clocks);

}  // namespace fkt
