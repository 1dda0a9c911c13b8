// SPDX-License-Identifier: GPL-2.0-only
// Measures whether a folder's disk is fast enough for recordings.
#pragma once

#include <cstdint>
#include <filesystem>

#include "lib/record/machine_checks.h"

namespace fkt::doctor {

// Returns how fast data can be written to the folder (bytes/s). Writes `bytes` bytes to a file
// without a name, past the page cache if possible. Returns 0 if nothing can be written there.
double disk_speed(const std::filesystem::path& folder, std::uint64_t bytes);
// Returns the number of events per second that this speed allows, by the average size of an event.
// free_bytes: free space of the folder's file system.
Finding judge_speed(const std::filesystem::path& folder, double bytes_per_second,
                    std::uint64_t free_bytes);

}  // namespace fkt::doctor
