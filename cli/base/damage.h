// SPDX-License-Identifier: GPL-2.0-only
// The warning about a damaged recording, and its exit status, for all tools that read recordings.
#pragma once

#include <string>

#include "lib/read/trace.h"

namespace fkt::cli {

// Prints one line on stderr if the part of the recording that was read is damaged or incomplete.
// Must be called after reading. Returns the exit status: kFailed if it printed a line, else kDone.
int say_damage(const std::string& file, const Trace& trace);

}  // namespace fkt::cli
