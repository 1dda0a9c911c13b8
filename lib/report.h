// SPDX-License-Identifier: GPL-2.0-only
// The statistics as text: what was recorded and whether it is whole, then the tables.
#pragma once

#include <string>

#include "lib/summary.h"
#include "lib/time_format.h"
#include "lib/writer.h"

namespace fkt {

void write_report(Writer& out, const Summary& summary, const Analysis& analysis,
                  const TimeFormat& time);
// Lines "COUNT<TAB>LAYER<TAB>NAME".
void write_counts(Writer& out, const std::vector<Summary::Count>& counts);

}  // namespace fkt
