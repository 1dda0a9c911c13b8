// SPDX-License-Identifier: GPL-2.0-only
// Reads what the instruments have counted from the module.
#pragma once

#include "cli/fkt_record/instruments/instrument_setup.h"
#include "lib/format/hit_results.h"
#include "lib/record/device.h"

namespace fkt::record {

// Returns the counts until now; exact after the recording's stop. Error: another recording is
// running.
Result<HitResults> read_hits(const Device& device, const InstrumentSetup& setup);

// Returns the number of hits recorded as events, of all CPUs and instruments.
std::uint64_t recorded_hits(const Device& device, const InstrumentSetup& setup);

}  // namespace fkt::record
