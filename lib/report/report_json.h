// SPDX-License-Identifier: GPL-2.0-only
// The statistics as one JSON object; its keys are documented in fkt_print(1) and stay stable.
#pragma once

#include <string>

#include "lib/base/time_format.h"
#include "lib/report/summary.h"

namespace fkt {

// Returns one object and a newline. Times are in the unit of `time`: integers for cycles and ns,
// decimal numbers for us and s.
std::string report_json(const Summary& summary, const Analysis& analysis, const TimeFormat& time);
std::string counts_json(const std::vector<Summary::Count>& counts);

}  // namespace fkt
