// SPDX-License-Identifier: GPL-2.0-only
// What is missing from a recording, or damaged in it, in the words that every tool says it with.
#pragma once

#include <string>
#include <string_view>

#include "lib/trace.h"

namespace fkt {

// The finding of a file without totals; opening one makes this note of it.
inline constexpr std::string_view kUnfinished =
    "the recorder could not finish this file: totals and the end's clocks are missing";

// One line: what is missing and how much, then the first place. Empty: nothing, as far as the
// recording was read. Events that its recorder lost or discarded are no damage of the file.
std::string damage_of(const Integrity& integrity, const TraceInfo& info);
std::string damage_of(const Trace& trace);

// Of a slice whose recording lacked something.
std::string damage_of_source(const Totals& totals);

}  // namespace fkt
