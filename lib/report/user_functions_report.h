// SPDX-License-Identifier: GPL-2.0-only
// The times of functions of user programs (lib/calls/user_functions.h) as text, JSON and CSV.
#pragma once

#include <vector>

#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/calls/user_functions.h"

namespace fkt {

// Writes a table as text, in the order of `rows`; times in the unit of `time`.
void write_user_functions(TextWriter& out, const std::vector<UserFunctionRow>& rows,
                          const TimeFormat& time);
// Writes {"unit": ..., "user_functions": [...]}, as docs/kd-schema.json describes it.
void write_user_functions_json(TextWriter& out, const std::vector<UserFunctionRow>& rows,
                               const TimeFormat& time);
// Writes a line of keys, and a line for each row.
void write_user_functions_csv(TextWriter& out, const std::vector<UserFunctionRow>& rows,
                              const TimeFormat& time);

}  // namespace fkt
