// SPDX-License-Identifier: GPL-2.0-only
// What is known of the terminal that output goes to.
#pragma once

#include <cstddef>

namespace fkt::cli {

struct Terminal {
  bool is = false;        // the descriptor is a terminal
  std::size_t width = 0;  // characters; 0: it is none, or does not tell
  bool colour = false;    // it is one, NO_COLOR is not set, and TERM is not "dumb"
};

Terminal terminal(int fd);

}  // namespace fkt::cli
