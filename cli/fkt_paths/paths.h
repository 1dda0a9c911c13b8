// SPDX-License-Identifier: GPL-2.0-only
// fkt_paths: which paths are taken through a function of the kernel.
#pragma once

namespace fkt::cli {

// Runs the tool; returns its exit status.
int paths(int argc, const char* const* argv);

}  // namespace fkt::cli
