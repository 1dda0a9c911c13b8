// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace fkt::cli {

Terminal terminal(int fd) {
  Terminal found;
  found.is = isatty(fd) == 1;
  if (!found.is) return found;
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0) found.width = size.ws_col;
  // Any value but the empty one counts (https://no-color.org).
  const char* const no_colour = std::getenv("NO_COLOR");
  const char* const name = std::getenv("TERM");
  const bool dumb = name == nullptr || *name == '\0' || std::string_view(name) == "dumb";
  found.colour = !dumb && (no_colour == nullptr || *no_colour == '\0');
  return found;
}

}  // namespace fkt::cli
