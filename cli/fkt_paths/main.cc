// SPDX-License-Identifier: GPL-2.0-only
// fkt_paths FUNCTION COMMAND...: which paths are taken through a function of the kernel while a
// command runs.
#include "cli/base/messages.h"
#include "cli/fkt_paths/paths.h"

int main(int argc, char** argv) {
  fkt::cli::ignore_sigpipe();
  return fkt::cli::paths(argc, argv);
}
