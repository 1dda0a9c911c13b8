// SPDX-License-Identifier: GPL-2.0-only
// Recording from the machine's start: its begin in an initramfs, and its end when there is a disk.
#pragma once

#include "cli/fkt_record/request/request.h"

namespace fkt::record {

// fkt_record --from-boot: returns when the recording runs or waits for its time to begin, or when
// it has failed: the exit status says which.
int run_from_boot(const Request& request);
// fkt_record --boot: ends the recorder and moves its file when it is complete. Returns the exit
// status.
int run_boot_end(const Request& request);

}  // namespace fkt::record
