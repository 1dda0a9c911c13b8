// SPDX-License-Identifier: GPL-2.0-only
// The whole of fkt_bufstats but for its process.
#pragma once

namespace fkt::cli {

// Prints or draws what the arguments ask for; returns the exit status.
int buffer_statistics(int argc, const char* const* argv);

}  // namespace fkt::cli
