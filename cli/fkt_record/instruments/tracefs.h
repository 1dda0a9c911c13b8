// SPDX-License-Identifier: GPL-2.0-only
// What the kernel tells in tracefs of what it can trace.
#pragma once

#include <string>
#include <vector>

#include "lib/base/result.h"

namespace fkt::record {

// The functions that ftrace can trace, a line each. Error (io): tracefs is not there, or closed to
// everybody.
Result<std::string> available_functions();

// Returns the text of /sys/kernel/debug/kprobes/blacklist: functions in which no kprobe can be set,
// one per line. Empty if the file cannot be read: debugfs is not mounted, or the user lacks the
// right.
std::string unprobed_functions();

// The names of the folders in a folder of tracefs. Error (io): tracefs is not there.
Result<std::vector<std::string>> tracefs_folders(const std::string& folder);

// The text of a file in tracefs. Error (io): it is not there.
Result<std::string> tracefs_file(const std::string& path);

}  // namespace fkt::record
