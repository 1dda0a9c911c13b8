// SPDX-License-Identifier: GPL-2.0-only
// fkt_cover: which blocks of the kernel a command has executed.
#pragma once

namespace fkt::cli {

// Runs the tool; returns its exit status.
int cover(int argc, const char* const* argv);

}  // namespace fkt::cli
