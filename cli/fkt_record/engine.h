// SPDX-License-Identifier: GPL-2.0-only
// Chooses the engine that writes the pages to the output: the one the user asked for, or the best
// one that the output supports.
#pragma once

#include <optional>
#include <string>

#include <fkt/ioctl.h>

#include "cli/fkt_record/output/output.h"

namespace fkt::record {

// Parses --drain=auto|direct|buffered|checkin|sendfile|uring; nothing for auto. The error for
// another word lists these.
Result<std::optional<fkt_engine_id>> parse_engine(const std::string& word);

// The name that parse_engine() accepts for it; "none" for FKT_ENGINE_NONE.
const char* engine_name(std::uint32_t engine);

struct Way {
  fkt_engine_id engine = FKT_ENGINE_NONE;
  // Descriptor that the kernel writes to; none: the recorder itself reads or borrows the pages.
  UniqueFd pages;
  std::string why;  // for -v
};

// Opens the output for its pages. asked: nothing for the best engine. Returns an error if the
// output does not support `asked`.
Result<Way> choose_way(const Output& output, std::optional<fkt_engine_id> asked);

}  // namespace fkt::record
