// SPDX-License-Identifier: GPL-2.0-only
// For the files of this project that write or read JSON sections. Not installed: programs that use
// the library need no nlohmann-json.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <fkt/ioctl.h>

#include "lib/base/json_writer.h"

namespace fkt {

struct HitResults;

// Returns the JSON value of a section's text; a discarded value if it is not JSON, or nests deeper
// than any section does: writing such a value would recurse too deeply.
nlohmann::json parse_json(std::string_view text);
// Returns a document that was read, and changed, as text that a terminal may be given, in which
// bytes that are no UTF-8 are replaced by U+FFFD.
std::string dump_json(const nlohmann::json& json);

// Writes the values of all clocks at one moment, as the members "start" and "end" of sections hold
// them.
void put_clock_pair(JsonWriter& json, const fkt_clocks& clocks);

// Returns the results that HitResults::to_json() has written. Members that are missing or of
// another type are ignored.
HitResults hit_results_of(const nlohmann::json& json);

}  // namespace fkt
