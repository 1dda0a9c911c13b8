// SPDX-License-Identifier: GPL-2.0-only
// Which processes of a recording have a name, for options that take a number or a name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/analyse/search_passes.h"
#include "lib/read/trace.h"

namespace fkt {

struct NamedProcesses {
  // The numbers of those that had the name at last, or, if there are none, at any time; threads
  // only if they are called otherwise than their process. Ascending.
  std::vector<std::uint32_t> pids;
  std::vector<std::string> names;  // of all tasks at last, each once, ascending
};

// Reads the recording once: programs take their names when they are executed.
NamedProcesses find_processes(const Trace& trace, std::string_view name, const Reading& reading);

}  // namespace fkt
