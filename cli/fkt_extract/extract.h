// SPDX-License-Identifier: GPL-2.0-only
// Main program of fkt_extract.
#pragma once

namespace fkt::cli {

// Writes the slice that the arguments select; returns the exit status.
int extract_slice(int argc, const char* const* argv);

}  // namespace fkt::cli
