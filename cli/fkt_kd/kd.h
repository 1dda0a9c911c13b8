// SPDX-License-Identifier: GPL-2.0-only
// Main program of fkt_kd.
#pragma once

namespace fkt::cli {

// Prints what the arguments ask for to standard output; returns the exit status.
int kd(int argc, const char* const* argv);

}  // namespace fkt::cli
