// SPDX-License-Identifier: GPL-2.0-only
// Implements fkt_print --diff OLD NEW.
#pragma once

#include "cli/base/options.h"

namespace fkt::cli {

// Prints what became slower; returns the exit status. Caller must check options.has("diff").
int print_diff(const Options& options);

}  // namespace fkt::cli
