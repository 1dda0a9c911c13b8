// SPDX-License-Identifier: GPL-2.0-only
// Between ticks, nanoseconds and the clock on the wall; and the times that users type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/result.h"
#include "lib/trace.h"

namespace fkt {

// A stretch of time in nanoseconds, rounded to the nearest.
std::uint64_t ticks_to_ns(const Clocks& clocks, std::uint64_t ticks);
// And back.
std::uint64_t ns_to_ticks(const Clocks& clocks, std::uint64_t ns);

// The zero of all times that are shown and typed (ticks): where the clocks were read together, which
// the head of every file says, whether its recorder could finish it or not.
std::uint64_t recording_start(const TraceInfo& info);

// "HH:MM:SS.nnnnnnnnn" of a time since 1970 (ns), `zone_seconds` east of UTC.
std::string wall_clock_text(std::uint64_t real_ns, int zone_seconds);

// A stretch as users type it, in ticks: "250us", "1.5ms", "2s", "100ns", or bare cycles, "12000".
// Error (usage) for anything else.
Result<std::uint64_t> parse_duration(std::string_view text, double ticks_per_second);

// A moment as users type it, as a full stamp (ticks): a stretch since recording_start(), or the wall
// clock "HH:MM[:SS[.frac]]" where it was recorded. `last`: the recording's last stamp, which tells
// the day when it runs past midnight.
Result<std::uint64_t> parse_time(std::string_view text, const TraceInfo& info, std::uint64_t last);

}  // namespace fkt
