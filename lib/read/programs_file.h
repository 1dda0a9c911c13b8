// SPDX-License-Identifier: GPL-2.0-only
// The file in which a recorder keeps the events of user programs until the recording's end, when it
// puts them among the kernel's.
#pragma once

#include <cstdint>
#include <string>

namespace fkt {

// Returns the name of a recording's file of programs' events.
inline std::string programs_file(const std::string& recording) {
  return recording + ".programs";
}

// Whether there is such a file of the recording at this path. id: the recording's random id.
bool has_programs_file(const std::string& path, std::uint64_t id);

}  // namespace fkt
