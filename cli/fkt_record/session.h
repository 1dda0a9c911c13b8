// SPDX-License-Identifier: GPL-2.0-only
// Runs a recording and its workload, from the first check to the exit status.
#pragma once

#include "cli/fkt_record/request/request.h"

namespace fkt::record {

class BootRecorder;

// Returns the exit status of fkt_record: the workload's, or kRecordingFailed (exit_status.h).
// boot: of a recorder that began in an initramfs; else null.
int run_session(const Request& request, BootRecorder* boot = nullptr);

}  // namespace fkt::record
