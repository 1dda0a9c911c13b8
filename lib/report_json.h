// SPDX-License-Identifier: GPL-2.0-only
// The statistics as one JSON object; its keys stand in fkt_print(1) and stay.
#pragma once

#include <string>

#include "lib/summary.h"
#include "lib/time_format.h"

namespace fkt {

// One object and a newline. Times in the unit of `time`: whole numbers of cycles or ns, else
// decimals.
std::string report_json(const Summary& summary, const Analysis& analysis, const TimeFormat& time);
std::string counts_json(const std::vector<Summary::Count>& counts);

}  // namespace fkt
