// SPDX-License-Identifier: GPL-2.0-only
// What fkt_record shows of a recording when it has ended on a terminal.
#pragma once

#include <string>

namespace fkt::record {

// Prints to standard error what fkt_print --summary prints of the file. Does nothing if standard
// error is no terminal, or if `name` is no regular file; where there are so many events that one
// would have to wait, it prints what to type instead.
void show_end_screen(const std::string& name);

}  // namespace fkt::record
