// SPDX-License-Identifier: GPL-2.0-only
// A file without a name, in $TMPDIR or /tmp: it disappears when its last descriptor is closed.
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt {

// Returns an empty file, open for reading and writing. Error (io): none can be made in that folder.
Result<UniqueFd> unnamed_file();

}  // namespace fkt
