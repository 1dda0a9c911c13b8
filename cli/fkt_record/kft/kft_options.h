// SPDX-License-Identifier: GPL-2.0-only
// The options that record calls of the kernel's functions as KFT does: --kft FILE, and an option
// for each statement of such a configuration (--mintime 500us).
#pragma once

#include <optional>

#include "cli/base/options.h"
#include "lib/base/result.h"
#include "lib/instrument/kft_plan.h"

namespace fkt::record {

// Declares these options, in a separate section of the help. With --functions, -F and -N are about
// functions of programs.
void add_kft_options(cli::Options& options);

// Returns whether any of these options is given; with --functions, -F and -N do not count.
bool has_kft(const cli::Options& options);
// Returns the name, as typed, of a given option that stands for a statement; nullptr: there is
// none.
const char* kft_statement_option(const cli::Options& options);

// Returns the plan of these options; nothing: none of them is given. Error (usage): names the
// option, or the file, line and column, and the right form.
Result<std::optional<KftPlan>> kft_plan_of(const cli::Options& options);

}  // namespace fkt::record
