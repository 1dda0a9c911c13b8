// SPDX-License-Identifier: GPL-2.0-only
// Texts of all tools for damaged and missing parts of a recording.
#pragma once

#include <string>
#include <string_view>

#include "lib/read/recording.h"

namespace fkt {

// The note in Integrity::notes for a file without totals.
inline constexpr std::string_view kUnfinished =
    "the recorder could not finish this file: totals and the end's clocks are missing";

// Returns one line that says what is missing and how much, then the first place. Empty: nothing is
// missing in what was read so far. Events that the recorder lost or discarded are not damage of the
// file. listed: statistics with all findings were printed, so that it need not be said where they
// are.
std::string damage_of(const Integrity& integrity, const RecordingInfo& info, bool listed = false);
std::string damage_of(const Recording& recording, bool listed = false);

// Returns the line for a slice that was cut out of a damaged recording; empty: the recording was
// whole.
std::string damage_of_source(const Totals& totals);

}  // namespace fkt
