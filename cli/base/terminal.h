// SPDX-License-Identifier: GPL-2.0-only
// The terminal that the output goes to.
#pragma once

#include <cstddef>

namespace fkt::cli {

struct Terminal {
  bool is = false;        // the descriptor is a terminal
  std::size_t width = 0;  // characters; 0: not a terminal, or its width is unknown
  bool colour = false;    // it is one, NO_COLOR is not set, and TERM is, but not to "dumb"
};

Terminal terminal(int fd);

}  // namespace fkt::cli
