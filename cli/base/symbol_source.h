// SPDX-License-Identifier: GPL-2.0-only
// Tools that translate texts by the kernel's symbols: where the symbols come from, and the filter.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/base/options.h"
#include "lib/base/result.h"
#include "lib/format/symbols.h"

namespace fkt::cli {

// Adds the option --map to the options, and FILE.
void add_symbol_options(Options& options);
// Reads the symbols that --map names: a System.map, a list like /proc/kallsyms, or a recording,
// which is known by its first bytes. Without the option: those of /proc/kallsyms. Error: the file
// cannot be read or has no symbols, or the kernel hides its addresses from this user.
Result<Symbols> symbols_of(const Options& options);
// Writes the lines of FILE, or of standard input, to standard output as `line` returns them. Ends
// without an error when the reader of standard output has gone.
Status translate(const Options& options, const std::function<std::string(std::string_view)>& line);

}  // namespace fkt::cli
