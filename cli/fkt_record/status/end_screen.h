// SPDX-License-Identifier: GPL-2.0-only
// The summary that fkt_record shows on a terminal when a recording has ended.
#pragma once

#include <string>

namespace fkt::record {

// Prints to standard error what fkt_print --summary prints of the file. Does nothing if standard
// error is no terminal, or if `name` is no regular file; if there are too many events to read them
// at once, it prints the command instead.
void show_end_screen(const std::string& name);

}  // namespace fkt::record
