// SPDX-License-Identifier: GPL-2.0-only
// Sets of instruments that were saved: files with a line for each. A name without a slash is that
// of NAME.instruments in $XDG_CONFIG_HOME/fkt (~/.config/fkt); such a set is also read from
// /etc/fkt.
#pragma once

#include <string>

#include "lib/base/result.h"

namespace fkt::cli {

// Returns the text of a saved set; name "-": standard input. Error (io): there is none.
Result<std::string> read_saved(const std::string& name);
// Writes a set, in place of the one with that name. Returns the file's path.
Result<std::string> save(const std::string& name, const std::string& text);

}  // namespace fkt::cli
