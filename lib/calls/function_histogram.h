// SPDX-License-Identifier: GPL-2.0-only
// Distribution of the durations of one function's calls: a row per power of two, and percentiles.
#pragma once

#include <string>

#include "lib/calls/function_table.h"

namespace fkt {

struct FunctionHistogram {
  FunctionRow row;
  std::vector<Histogram::Octave> octaves;  // in ticks
};

// Error (usage): no function has that name, or none of its calls was seen from begin to end.
Result<FunctionHistogram> function_histogram(const Profile& profile, const TypeNames& types,
                                             const std::string& name);

// Write the distribution as text, JSON or CSV; times are in the unit of `time`.
void write_histogram(TextWriter& out, const FunctionHistogram& histogram, const TimeFormat& time);
void write_histogram_json(TextWriter& out, const FunctionHistogram& histogram,
                          const TimeFormat& time);
void write_histogram_csv(TextWriter& out, const FunctionHistogram& histogram,
                         const TimeFormat& time);

}  // namespace fkt
