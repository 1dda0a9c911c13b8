// SPDX-License-Identifier: GPL-2.0-only
// The paths that a recording's events tell of.
#pragma once

#include "lib/blocks/function_paths.h"
#include "lib/blocks/path_profile.h"
#include "lib/read/recording.h"

namespace fkt {

// Reads a recording of the instruments on FunctionPaths::places(), and of the switches between
// threads.
void read_paths(const Recording& recording, const FunctionPaths& paths, PathProfile& profile);

}  // namespace fkt
