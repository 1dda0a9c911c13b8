// SPDX-License-Identifier: GPL-2.0-only
// What fkt_record says at the end about the hits of its instruments.
#pragma once

#include <string>

#include <fkt/ioctl.h>

#include "cli/fkt_record/instruments/instrument_setup.h"

namespace fkt::record {

// Hits that were missed, for all reasons.
std::uint64_t missed_hits(const fkt_hit_counts& counts);

// "call:vfs_*: 12 functions, 345 calls recorded, 6 dropped by its condition, 7 missed (...)".
std::string hits_line(const InstrumentSetup::Part& part, const fkt_hit_counts& counts);

}  // namespace fkt::record
