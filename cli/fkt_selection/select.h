// SPDX-License-Identifier: GPL-2.0-only
// The whole of fkt_selection but for its process.
#pragma once

namespace fkt::cli {

// Serves the page, or draws the overview, as the arguments say; returns the exit status.
int select_part(int argc, const char* const* argv);

}  // namespace fkt::cli
