// SPDX-License-Identifier: GPL-2.0-only
// The library that programs load for --functions: libfkt-func.so.
#pragma once

#include <string>
#include <vector>

#include "lib/base/result.h"

namespace fkt::record {

// Returns the variable by which the dynamic linker loads the library, in addition to those that
// this process's environment names: "LD_PRELOAD=...". Error: it is not installed, or its path has
// characters that LD_PRELOAD cannot hold.
Result<std::string> function_library_entry();
// Adds that variable to the environment, if `wanted`.
Status add_function_library(bool wanted, std::vector<std::string>& environment);

}  // namespace fkt::record
