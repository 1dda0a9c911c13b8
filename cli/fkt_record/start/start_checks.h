// SPDX-License-Identifier: GPL-2.0-only
// Checks made before a file is touched: what the module would refuse too, but only after the file
// was truncated.
#pragma once

#include <sys/types.h>

#include <fkt/ioctl.h>

#include "lib/base/result.h"

namespace fkt::record {

// Error (io): with FKT_FILTER_PROCESS, no process has this pid.
Status check_process(fkt_filter filter, pid_t pid);

// Error (io): without CAP_PERFMON only own processes may be recorded, so a filter is mandatory.
Status check_access(fkt_filter filter, const fkt_status& status);

// clocks: read from `source`. Error (io): the kernel considers the TSC unstable, so its times would
// be wrong.
Status check_clock(const fkt_clocks& clocks, fkt_clock_source source);

}  // namespace fkt::record
