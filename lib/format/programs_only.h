// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <fkt/events.h>

#include "lib/format/metadata.h"

namespace fkt {

// Returns whether the recording has no events of the kernel (fkt_record --user-only): what readers
// take for CPUs are threads then, and it is not known when these ran.
inline bool programs_only(const RecordingInfo& info) {
  return info.command.mask == 1ULL << FKT_L_USER;
}

}  // namespace fkt
