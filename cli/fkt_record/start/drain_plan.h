// SPDX-License-Identifier: GPL-2.0-only
// Chooses the engine that writes the pages to the output: the one the user asked for, or the best
// one that the output supports.
#pragma once

#include <optional>
#include <string>

#include <fkt/ioctl.h>

#include "cli/fkt_record/output/output.h"
#include "cli/fkt_record/start/engine_name.h"

namespace fkt::record {

struct DrainPlan {
  fkt_engine_id engine = FKT_ENGINE_NONE;
  // Descriptor that the kernel writes to; none: the recorder itself reads or borrows the pages.
  UniqueFd pages;
  std::string why;  // for -v
};

// Opens the output for its pages. asked: nothing for the best engine. Returns an error if the
// output does not support `asked`.
Result<DrainPlan> choose_drain(const Output& output, std::optional<fkt_engine_id> asked);

}  // namespace fkt::record
