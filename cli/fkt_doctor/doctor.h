// SPDX-License-Identifier: GPL-2.0-only
// Main program of fkt_doctor.
#pragma once

namespace fkt::cli {

// Prints what may prevent recording; returns the exit status: kFailed if it cannot record.
int examine_machine(int argc, const char* const* argv);

}  // namespace fkt::cli
