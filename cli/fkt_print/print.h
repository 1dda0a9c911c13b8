// SPDX-License-Identifier: GPL-2.0-only
// Main program of fkt_print.
#pragma once

namespace fkt::cli {

// Prints what the arguments ask for to standard output; returns the exit status.
int print_recording(int argc, const char* const* argv);

}  // namespace fkt::cli
