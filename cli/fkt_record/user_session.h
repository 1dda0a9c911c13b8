// SPDX-License-Identifier: GPL-2.0-only
// Runs a recording of user programs alone (--user-only), from the first check to the exit status.
#pragma once

#include "cli/fkt_record/request/request.h"

namespace fkt::record {

// Returns the exit status of fkt_record: the workload's, or kRecordingFailed.
int run_user_session(const Request& request);

}  // namespace fkt::record
