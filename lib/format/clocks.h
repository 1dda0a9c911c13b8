// SPDX-License-Identifier: GPL-2.0-only
// Conversion between ticks, nanoseconds and wall-clock time; and parsing of times that users type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/result.h"
#include "lib/format/metadata.h"

namespace fkt {

// A time after every stamp (ticks).
inline constexpr std::uint64_t kForever = ~std::uint64_t{0};

// Converts a duration from ticks to nanoseconds, rounded to the nearest.
std::uint64_t ticks_to_ns(const Clocks& clocks, std::uint64_t ticks);

// Returns the zero of all times that are shown and typed (ticks): the moment at which all clocks
// were read together. It is in the header of every file, also of unfinished ones.
std::uint64_t recording_start(const RecordingInfo& info);

// Formats a time since 1970 (ns) as "HH:MM:SS.nnnnnnnnn", in the zone `zone_seconds` east of UTC.
std::string wall_clock_text(std::uint64_t real_ns, int zone_seconds);

// Parses a duration as users type it, "250us", "1.5ms", "2s", "100ns" or plain cycles "12000".
// Returns ticks; Error (usage) for anything else.
Result<std::uint64_t> parse_duration(std::string_view text, double ticks_per_second);

// Parses a moment as users type it and returns its full stamp (ticks). `text` is a duration since
// recording_start(), or the wall-clock time "HH:MM[:SS[.frac]]" in the recording's time zone. last:
// the recording's last stamp (ticks); it decides on the day when the recording runs past midnight.
Result<std::uint64_t> parse_time(std::string_view text, const RecordingInfo& info,
                                 std::uint64_t last);

}  // namespace fkt
