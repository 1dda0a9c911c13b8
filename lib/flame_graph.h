// SPDX-License-Identifier: GPL-2.0-only
// A flame graph as one SVG file that needs nothing else: boxes as wide as their time, callers
// below, hover for figures, click to zoom, / to search. Without scripts it still shows the whole
// picture.
#pragma once

#include <string_view>

#include "lib/call_paths.h"

namespace fkt {

// Fails where no path has any time. title: its heading.
Status write_flame_graph(Writer& out, const CallPaths& paths, const TimeFormat& time,
                         std::string_view title);

}  // namespace fkt
