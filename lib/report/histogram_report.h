// SPDX-License-Identifier: GPL-2.0-only
// How long calls took (lib/calls/function_histogram.h) as text, JSON and CSV.
#pragma once

#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/calls/function_histogram.h"

namespace fkt {

// Write the histogram as a table with bars, as one object (docs/kd-schema.json), and as CSV, a line
// for each row. Times are in the unit of `time`.
void write_histogram(TextWriter& out, const FunctionHistogram& histogram, const TimeFormat& time);
void write_histogram_json(TextWriter& out, const FunctionHistogram& histogram,
                          const TimeFormat& time);
void write_histogram_csv(TextWriter& out, const FunctionHistogram& histogram,
                         const TimeFormat& time);

}  // namespace fkt
