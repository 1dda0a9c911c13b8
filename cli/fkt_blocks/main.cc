// SPDX-License-Identifier: GPL-2.0-only
// fkt_blocks FUNCTION...: the basic blocks of functions, the ways between them, and how each could
// be counted.
#include "cli/base/messages.h"
#include "cli/fkt_blocks/blocks.h"

int main(int argc, char** argv) {
  fkt::cli::ignore_sigpipe();
  return fkt::cli::blocks(argc, argv);
}
