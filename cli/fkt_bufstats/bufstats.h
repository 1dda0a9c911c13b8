// SPDX-License-Identifier: GPL-2.0-only
// Main program of fkt_bufstats.
#pragma once

namespace fkt::cli {

// Prints or draws what the arguments ask for; returns the exit status.
int buffer_statistics(int argc, const char* const* argv);

}  // namespace fkt::cli
