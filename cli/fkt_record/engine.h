// SPDX-License-Identifier: GPL-2.0-only
// The way the pages take to the output: what the user asked for, or the best that it can do.
#pragma once

#include <optional>
#include <string>

#include <fkt/ioctl.h>

#include "cli/fkt_record/output.h"

namespace fkt::record {

// --drain=auto|direct|buffered|checkin|sendfile|uring; an error that lists them for any other word.
Result<std::optional<fkt_engine_id>> parse_engine(const std::string& word);

// The name that parse_engine() knows it by; "none" for FKT_ENGINE_NONE.
const char* engine_name(std::uint32_t engine);

struct Way {
  fkt_engine_id engine = FKT_ENGINE_NONE;
  UniqueFd pages;   // where the kernel writes; nothing: the recorder fetches or takes the pages
  std::string why;  // for -v
};

// Opens the output for its pages. asked: nothing for "the best". An error says what it cannot do.
Result<Way> choose_way(const Output& output, std::optional<fkt_engine_id> asked);

}  // namespace fkt::record
