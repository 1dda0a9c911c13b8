// SPDX-License-Identifier: GPL-2.0-only
// What fkt_record shows of a recording when it has ended on a terminal.
#pragma once

#include <cstdint>
#include <string>

namespace fkt::record {

// Prints to standard error what fkt_print --summary prints of the file. Does nothing if standard
// error is no terminal, if `name` is no regular file, or if there are so many events that one would
// have to wait.
void show_end_screen(const std::string& name, std::uint64_t events);

}  // namespace fkt::record
