// SPDX-License-Identifier: GPL-2.0-only
// The statistics as CSV (RFC 4180): the tables of the text report one after the other, separated by
// empty lines. Each begins with a head line; the first cell of every other line is the table's
// name, so that grep can select one table.
#pragma once

#include <optional>
#include <vector>

#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/format/hit_results.h"
#include "lib/report/summary.h"

namespace fkt {

// hits: of the recording's instruments. Writes times as numbers in the unit of `time`.
void write_report_csv(TextWriter& out, const Summary& summary,
                      const std::optional<HitResults>& hits, const TimeFormat& time);
// Writes one table: count, layer, name.
void write_counts_csv(TextWriter& out, const std::vector<Summary::Count>& counts);

}  // namespace fkt
