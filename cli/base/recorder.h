// SPDX-License-Identifier: GPL-2.0-only
// Requests of tools to a running recorder.
#pragma once

#include <sys/types.h>

#include "cli/base/options.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "lib/record/recorder_protocol.h"

namespace fkt::cli {

// Adds the option --recorder.
void add_recorder_option(boost::program_options::options_description_easy_init options);
// Returns the pid that --recorder names; 0: the option was not given.
Result<pid_t> recorder_of(const Options& options);
// Connects to the recorder with this pid; 0: the process that is recording now. refusal: end of the
// error message if the process takes no requests ("takes no snapshots: ...").
Result<UniqueFd> connect_to(pid_t recorder, const char* refusal);

}  // namespace fkt::cli
