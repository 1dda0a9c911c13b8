// SPDX-License-Identifier: GPL-2.0-only
// Reads the running kernel's symbols once, for the file and for the instruments.
#pragma once

#include <string>

#include "lib/base/result.h"
#include "lib/record/kernel_symbols.h"

namespace fkt::record {

// What the kernel lists. Error (io): /proc/kallsyms cannot be read.
Result<KernelSymbols> read_kallsyms();

struct SymbolPlan {
  std::string system_map;  // path; empty: none
  bool verbose = false;    // also tell how many symbols there are
};

// The symbols for the file: those of read_kallsyms(), none if it failed, and what the System.map
// adds. Prints a warning if the kernel's are missing or contradict the System.map. Error: the
// System.map cannot be read or is none.
Result<KernelSymbols> symbols_for_file(Result<KernelSymbols> kallsyms, const SymbolPlan& plan);

}  // namespace fkt::record
