// SPDX-License-Identifier: GPL-2.0-only
// The files whose code a process has mapped, as /proc/PID/maps says it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/record/machine_sections.h"

namespace fkt {

struct Mapped {
  std::uint64_t begin = 0, end = 0, offset = 0;
  std::uint64_t device = 0, inode = 0;  // device: major << 20 | minor
  std::string path;

  // Returns a text that identifies the file in every process.
  std::string file() const;
};

// Parses the lines of /proc/PID/maps, without mappings that are not of a file or not executable.
std::vector<Mapped> parse_maps(std::string_view text);

// Returns the payload of FKT_SEC_MAPS: the code that the processes have mapped now.
std::string map_lines(const TaskRules& rules);

}  // namespace fkt
