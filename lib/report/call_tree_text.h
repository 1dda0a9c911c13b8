// SPDX-License-Identifier: GPL-2.0-only
// Paths of calls as text that other programs draw.
#pragma once

#include <string_view>

#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/calls/call_tree.h"

namespace fkt {

// Puts a name as a part of such a path, of which ";" is the separator and a blank and a number the
// end.
void put_frame(TextWriter& out, std::string_view name);
// Writes a line per path with self time, as "find;sys_read 1234": the number is in the unit of
// `time`, rounded to whole units; paths that round to 0 are left out.
void write_folded(TextWriter& out, const CallTree& tree, const TimeFormat& time);
// Writes the tree of paths for Graphviz; nodes below a thousandth of the total time are left out.
void write_dot(TextWriter& out, const CallTree& tree, const TimeFormat& time);

}  // namespace fkt
