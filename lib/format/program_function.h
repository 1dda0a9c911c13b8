// SPDX-License-Identifier: GPL-2.0-only
// A function of a program or library, as its file has it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fkt {

struct ProgramFunction {
  std::uint64_t offset = 0, bytes = 0;  // in the file; bytes 0: not known
  std::string name;                     // as it is shown
};

// Returns the functions of the file with this path, by offset; none, if it cannot be read.
// read_program_functions() in lib/instrument/program_functions.h is one.
using FunctionReader = std::function<std::vector<ProgramFunction>(const std::string& path)>;

}  // namespace fkt
