// SPDX-License-Identifier: GPL-2.0-only
// The library that --functions has programs load: libfkt-func.so.
#pragma once

#include <string>
#include <vector>

#include "lib/base/result.h"

namespace fkt::record {

// Returns the environment's entry that has the dynamic linker load the library, besides what the
// environment of this process says: "LD_PRELOAD=...". Error: it is not installed, or its path
// cannot be written there.
Result<std::string> function_library_entry();
// Adds that entry, if `wanted`.
Status add_function_library(bool wanted, std::vector<std::string>& environment);

}  // namespace fkt::record
