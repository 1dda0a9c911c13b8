// SPDX-License-Identifier: GPL-2.0-only
// A flame graph as one self-contained SVG file: boxes as wide as their time, callers below, hover
// for figures, click to zoom, / to search. A viewer without scripts shows the whole picture.
#pragma once

#include <string_view>

#include "lib/base/time_format.h"
#include "lib/calls/call_tree.h"

namespace fkt {

struct FlameText {
  std::string_view title;               // the heading
  std::string_view total = "CPU time";  // what the boxes' widths are
};

// Returns an error (usage) when no path has any time.
Status write_flame_graph(TextWriter& out, const CallTree& tree, const TimeFormat& time,
                         const FlameText& text);

}  // namespace fkt
