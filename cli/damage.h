// SPDX-License-Identifier: GPL-2.0-only
// The last word of every tool that reads a recording.
#pragma once

#include <string>

#include "lib/trace.h"

namespace fkt::cli {

// Says on stderr, in one line, what is missing from the recording or damaged in it, as far as it
// was read. Returns the exit status: kFailed, or kDone where nothing had to be said.
int say_damage(const std::string& file, const Trace& trace);

}  // namespace fkt::cli
