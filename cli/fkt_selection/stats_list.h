// SPDX-License-Identifier: GPL-2.0-only
// The statistics of a stretch of time as JSON, for the page's tables.
#pragma once

#include <string>

#include "lib/timeline/window_stats.h"

namespace fkt::cli {

// types: the names of the types in `stats`. tasks: nullptr: nothing is known of them yet.
std::string list_stats(const WindowStats& stats, const SpanTypes& types, const Tasks* tasks);

}  // namespace fkt::cli
