// SPDX-License-Identifier: GPL-2.0-only
// The state of a recording at some moments, for slices that begin there.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/cut.h"
#include "lib/trace.h"

namespace fkt {

class KnownStates;

// At each of `moments` (ticks, ascending), before any event of that time. `reading`: called now and
// then with the number of events that were read, or need not be; false: nothing is returned. What
// `known` knows is not read again, and what is found on the way is added to it; nullptr: nothing is
// known. The cuts' `to` is the end of all time, and of losses they say nothing.
std::vector<Cut> read_states(const Trace& trace, std::span<const std::uint64_t> moments,
                             KnownStates* known, const std::function<bool(std::uint64_t)>& reading);

}  // namespace fkt
