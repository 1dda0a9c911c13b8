// SPDX-License-Identifier: GPL-2.0-only
// Runs a command as a shell does.
#pragma once

#include <string>
#include <vector>

#include "lib/base/result.h"

namespace fkt::cli {

// Returns the command's exit status, as a shell tells it. What the terminal sends to end it does
// not end this process; SIGTERM and SIGHUP are passed on to the command. Error (usage): there is no
// such command; (io): it cannot be run.
Result<int> run_command(const std::vector<std::string>& command);

}  // namespace fkt::cli
