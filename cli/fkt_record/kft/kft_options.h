// SPDX-License-Identifier: GPL-2.0-only
// The options that ask for calls of the kernel's functions as KFT does: --kft FILE, and those that
// say a statement of such a configuration each (--mintime 500us).
#pragma once

#include <optional>

#include "cli/base/options.h"
#include "lib/base/result.h"
#include "lib/instrument/kft_plan.h"

namespace fkt::record {

// Declares them, in a section of the help of their own. -F and -N are options for functions of
// programs, too, if --functions is given.
void add_kft_options(cli::Options& options);

// Whether any of them is given; with --functions, -F and -N are none of them.
bool has_kft(const cli::Options& options);
// The name of one of them that says a statement, as it is typed; nullptr: there is none.
const char* kft_statement_option(const cli::Options& options);

// What they ask for; nothing: none of them is given. Error (usage): it names the option, or the
// file, line and column, and says what would be right.
Result<std::optional<KftPlan>> kft_plan_of(const cli::Options& options);

}  // namespace fkt::record
