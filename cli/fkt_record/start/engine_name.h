// SPDX-License-Identifier: GPL-2.0-only
// Names of the engines that write the pages, for --drain and for the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <fkt/ioctl.h>

#include "lib/base/result.h"

namespace fkt::record {

// Parses --drain=auto|direct|buffered|checkin|sendfile|uring; nothing for auto. The error for
// another word lists these.
Result<std::optional<fkt_engine_id>> parse_engine(const std::string& word);

// The name that parse_engine() accepts for it; "none" for FKT_ENGINE_NONE.
const char* engine_name(std::uint32_t engine);

}  // namespace fkt::record
