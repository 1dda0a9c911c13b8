// SPDX-License-Identifier: GPL-2.0-only
// The names of the machine's disks and file systems, for values of type dev.
#pragma once

#include <string>
#include <string_view>

namespace fkt::record {

// Returns lines "name" for the file's catalogue, of table "dev": of disks and partitions their
// names, of other file systems their types. partitions: the text of /proc/partitions; mounts: that
// of /proc/self/mountinfo.
std::string device_lines(std::string_view partitions, std::string_view mounts);

}  // namespace fkt::record
