// SPDX-License-Identifier: GPL-2.0-only
// Main program of fkt_selection.
#pragma once

namespace fkt::cli {

// Serves the page or draws the overview, depending on the arguments; returns the exit status.
int select_part(int argc, const char* const* argv);

}  // namespace fkt::cli
