// SPDX-License-Identifier: GPL-2.0-only
// The comparison of two recordings (lib/calls/function_diff.h) as text, JSON and CSV. Times are in
// `unit`, which is not cycles: the clocks of two recordings tick at different rates.
#pragma once

#include <string>
#include <vector>

#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/calls/function_diff.h"

namespace fkt {

void write_diff(TextWriter& out, const std::vector<DiffRow>& rows, TimeUnit unit);
// old_name, new_name: names of the two files.
void write_diff_json(TextWriter& out, const std::vector<DiffRow>& rows, TimeUnit unit,
                     const std::string& old_name, const std::string& new_name);
void write_diff_csv(TextWriter& out, const std::vector<DiffRow>& rows, TimeUnit unit);

}  // namespace fkt
