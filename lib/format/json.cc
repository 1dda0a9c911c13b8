// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/json.h"

#include <cstdint>

#include <nlohmann/json.hpp>

namespace fkt {

std::string dump_json(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json clock_pair_json(const fkt_clocks& clocks) {
  return {{"clock", std::uint64_t{clocks.clock}},
          {"mono_raw_ns", std::uint64_t{clocks.mono_raw_ns}},
          {"mono_ns", std::uint64_t{clocks.mono_ns}},
          {"real_ns", std::uint64_t{clocks.real_ns}}};
}

}  // namespace fkt
