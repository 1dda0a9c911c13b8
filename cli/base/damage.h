// SPDX-License-Identifier: GPL-2.0-only
// The warning about a damaged recording, and its exit status, for all tools that read recordings.
#pragma once

#include <string>

#include "lib/base/result.h"
#include "lib/read/recording.h"

namespace fkt::cli {

// Prints one line on stderr if the part of the recording that was read is damaged or incomplete.
// Must be called after reading. listed: statistics with all findings were printed. Returns the exit
// status: kFailed if it printed a line, else kDone.
int say_damage(const std::string& file, const Recording& recording, bool listed = false);

// Prints that there was no event to show, so that an empty output is not mistaken for a failure.
// chosen: the user selected a part.
void say_no_events(const std::string& file, const Recording& recording, bool chosen);

// Same as fail(error) of messages.h. For an error (absent) it prints the damage first, because that
// may be the reason.
int fail(const Error& error, const std::string& file, const Recording& recording);

}  // namespace fkt::cli
