// SPDX-License-Identifier: GPL-2.0-only
// Main program of fkt_blocks.
#pragma once

namespace fkt::cli {

// Prints what the arguments ask for to standard output; returns the exit status.
int blocks(int argc, const char* const* argv);

}  // namespace fkt::cli
