// SPDX-License-Identifier: GPL-2.0-only
// Reads what the instruments have counted from the module.
#pragma once

#include "cli/fkt_record/instruments/instrument_setup.h"
#include "lib/format/hit_results.h"
#include "lib/record/device.h"

namespace fkt::record {

// Counts until now; exact once the recording is stopped. Error: the recording is another one.
Result<HitResults> read_hits(const Device& device, const InstrumentSetup& setup);

// How many hits have been recorded as events, all CPUs and instruments together.
std::uint64_t recorded_hits(const Device& device, const InstrumentSetup& setup);

}  // namespace fkt::record
