// SPDX-License-Identifier: GPL-2.0-only
// The whole of fkt_print but for its process.
#pragma once

namespace fkt::cli {

// Prints what the arguments ask for to standard output; returns the exit status.
int print_recording(int argc, const char* const* argv);

}  // namespace fkt::cli
