// SPDX-License-Identifier: GPL-2.0-only
// A file without a name, in $TMPDIR or /tmp: it is gone with its last user.
#pragma once

#include "lib/result.h"
#include "lib/unique_fd.h"

namespace fkt {

// Open for reading and writing, empty.
Result<UniqueFd> unnamed_file();

}  // namespace fkt
