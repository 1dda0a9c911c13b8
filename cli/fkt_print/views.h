// SPDX-License-Identifier: GPL-2.0-only
// The tables that fkt_print makes of the events instead of the dump and the statistics.
#pragma once

#include <cstdint>

#include "cli/fkt_print/request.h"
#include "lib/analyse/analysis.h"
#include "lib/base/time_format.h"

namespace fkt::cli {

// Reads the recording and prints request.view to standard output. Adds the number of events that
// were selected to `shown`. Returns false when the reader of stdout has closed the pipe.
Result<bool> print_view(const Recording& recording, const PrintRequest& request, Analysis& analysis,
                        const TimeFormat& time, std::uint64_t& shown);

}  // namespace fkt::cli
