// SPDX-License-Identifier: GPL-2.0-only
// The functions of a program or library by their places, for the names of stacks.
#pragma once

#include "lib/format/program_function.h"

namespace fkt {

// Returns the functions of the file (a FunctionReader). Of several at one place, the plainest name.
std::vector<ProgramFunction> read_program_functions(const std::string& path);

}  // namespace fkt
