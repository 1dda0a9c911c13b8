// SPDX-License-Identifier: GPL-2.0-only
// Reads from tracefs what the kernel can trace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"

namespace fkt::record {

// Returns the functions that ftrace can trace, one per line. Error (io): tracefs is not mounted, or
// lockdown forbids tracing.
Result<std::string> available_functions();

// Returns the text of /sys/kernel/debug/kprobes/blacklist: functions in which no kprobe can be set,
// one per line. Empty if the file cannot be read: debugfs is not mounted, or the user lacks the
// right.
std::string unprobed_functions();

// Returns the names of the folders in a folder of tracefs. Error (io): tracefs is not mounted.
Result<std::vector<std::string>> tracefs_folders(const std::string& folder);

// Returns the description of a system call's arguments, the file of its entry's event. Empty: the
// kernel has none.
std::string system_call_format(std::string_view call);

// Returns the text of a file in tracefs. Error (io): the file does not exist.
Result<std::string> tracefs_file(const std::string& path);

}  // namespace fkt::record
