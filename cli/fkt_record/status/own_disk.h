// SPDX-License-Identifier: GPL-2.0-only
// Whether the recording's own writes are among the requests that it records.
#pragma once

#include <string>
#include <vector>

#include "lib/instrument/layer_file.h"

namespace fkt::record {

// Returns a line for the user if a layer of `layers` is about disks or files (block, fs), and
// `file`, which the recording is written to, is on a disk; else an empty text.
std::string own_disk_line(const std::vector<LayerFile>& layers, const std::string& file);

}  // namespace fkt::record
