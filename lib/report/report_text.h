// SPDX-License-Identifier: GPL-2.0-only
// The statistics as text: the head (what was recorded, whether it is complete), then the tables.
#pragma once

#include <string>

#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/report/summary.h"

namespace fkt {

// Writes the whole report of summarize(analysis, ...). time: unit and form of the times.
void write_report(TextWriter& out, const Summary& summary, const Analysis& analysis,
                  const TimeFormat& time);
// Writes a line "COUNT<TAB>LAYER<TAB>NAME" per row.
void write_counts(TextWriter& out, const std::vector<Summary::Count>& counts);

}  // namespace fkt
