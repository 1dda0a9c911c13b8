// SPDX-License-Identifier: GPL-2.0-only
// The paths that were taken through a function, as text and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/text_writer.h"
#include "lib/blocks/function_paths.h"
#include "lib/blocks/path_profile.h"
#include "lib/format/clocks.h"
#include "lib/format/hit_results.h"

namespace fkt {

struct PathReport {
  const FunctionPaths& paths;
  const PathProfile& profile;
  SourceLines* lines = nullptr;  // nullptr: lines of source files are not told
  double ticks_per_second = 1e9;
  std::uint64_t start = 0;  // the recording's first moment (ticks)
  std::uint64_t lost = 0;   // events
  // Of the instruments: calls that were recorded, and all hits that were missed, by missed_word().
  Hits calls{};
  std::map<std::string, std::uint64_t> missed_ways{};
};

// Writes a head line, for each path a line with its times and one with its blocks, those with the
// most time first, at most `most` paths, and what there is to know about the figures.
void write_paths_text(TextWriter& out, const PathReport& report, std::size_t most);
// Writes an object: the function, how its ways are watched, "taken" with all paths, and "left_out".
void write_paths_json(TextWriter& out, const PathReport& report);

}  // namespace fkt
