// SPDX-License-Identifier: GPL-2.0-only
// fkt_cover COMMAND...: which blocks of the kernel's functions are executed while a command runs.
#include "cli/base/messages.h"
#include "cli/fkt_cover/cover.h"

int main(int argc, char** argv) {
  fkt::cli::ignore_sigpipe();
  return fkt::cli::cover(argc, argv);
}
