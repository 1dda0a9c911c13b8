// SPDX-License-Identifier: GPL-2.0-only
// The whole of fkt_extract but for its process.
#pragma once

namespace fkt::cli {

// Writes the slice that the arguments ask for; returns the exit status.
int extract_slice(int argc, const char* const* argv);

}  // namespace fkt::cli
