// SPDX-License-Identifier: GPL-2.0-only
// The user's own defaults of options: lines "TOOL OPTION ...", in a file or the environment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"

namespace fkt::cli {

struct DefaultOptions {
  std::string where;               // file and line: "fkt.conf:3", "FKT_OPTIONS:1"
  std::vector<std::string> words;  // as a shell splits them
};

// Appends the lines of `text` that are for the tool to `out`. source: what messages call the text.
// tools: the names of all. Error (usage): a line begins with another word, or has
// a wrong escape.
Status parse_default_options(std::string_view text, const std::string& source,
                             std::string_view tool, const std::vector<std::string>& tools,
                             std::vector<DefaultOptions>& out);

// Returns those of the environment's FKT_OPTIONS, then those of the file that FKT_CONFIG names, or
// else of fkt.conf in the user's folder of configurations if it is there. Error: as above, or the
// file cannot be read.
Result<std::vector<DefaultOptions>> default_options(std::string_view tool);

// Returns the path of the tool that lies beside this program; if none does, its name.
std::string path_of_tool(const std::string& name);

}  // namespace fkt::cli
