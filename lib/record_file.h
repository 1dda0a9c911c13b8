// SPDX-License-Identifier: GPL-2.0-only
// Which files a recording may be written to.
#pragma once

#include <string>

#include "lib/result.h"
#include "lib/unique_fd.h"

namespace fkt {

// Does an FKT file begin here? Nothing can be read: no.
bool holds_fkt_file(int fd);

// A regular file for a recording, open for reading and writing, new or as it was: what is in it
// must be an FKT file unless `force`. A new one is readable by its owner alone.
Result<UniqueFd> open_record_file(const std::string& name, bool force);

}  // namespace fkt
