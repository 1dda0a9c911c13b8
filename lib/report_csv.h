// SPDX-License-Identifier: GPL-2.0-only
// The statistics as CSV (RFC 4180): the same tables as in the text, one behind the other, with an
// empty line between them. Each begins with its head line; the first column of every line is the
// table's name, so that grep finds one table.
#pragma once

#include <vector>

#include "lib/summary.h"
#include "lib/time_format.h"
#include "lib/writer.h"

namespace fkt {

// Times as numbers in the unit of `time`.
void write_report_csv(Writer& out, const Summary& summary, const TimeFormat& time);
// One table: count, layer, name.
void write_counts_csv(Writer& out, const std::vector<Summary::Count>& counts);

}  // namespace fkt
