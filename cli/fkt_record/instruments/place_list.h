// SPDX-License-Identifier: GPL-2.0-only
// fkt_record --list: the places that an instrument would have on the running kernel.
#pragma once

#include <string>
#include <vector>

#include "lib/base/result.h"

namespace fkt::record {

// Returns a line for each place that is taken by one of the instruments, which are written as for
// -i: its name, and what can be recorded there. is_verbose: also lines that say by which way the
// places are hit, and which ones are left out, with the reasons.
// Error (usage): an instrument has no place; (io): the kernel does not tell what it has.
Result<std::string> list_places(const std::vector<std::string>& texts, bool is_verbose);

}  // namespace fkt::record
