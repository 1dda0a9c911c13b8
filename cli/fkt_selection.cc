// SPDX-License-Identifier: GPL-2.0-only
// fkt_selection: look at a whole recording, choose a part of it, cut it out.
#include "cli/common.h"
#include "cli/fkt_selection/select.h"

int main(int argc, char** argv) {
  fkt::cli::ignore_sigpipe();
  return fkt::cli::select_part(argc, argv);
}
