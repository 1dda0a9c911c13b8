// SPDX-License-Identifier: GPL-2.0-only
// Finds the processes of a recording that have a name, for options that take a number or a name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/analyse/search_passes.h"
#include "lib/read/recording.h"

namespace fkt {

struct NamedProcesses {
  // Numbers of the processes that had the name at the end, or, if there are none, at any time;
  // threads only if their name differs from that of their process. Ascending.
  std::vector<std::uint32_t> pids;
  std::vector<std::string> names;  // of all tasks at the end, each once, ascending
};

// Reads the whole recording once, because a process may get the name at any time. reading: called
// with the number of events read so far.
NamedProcesses find_processes(const Recording& recording, std::string_view name,
                              const Reading& reading);

}  // namespace fkt
