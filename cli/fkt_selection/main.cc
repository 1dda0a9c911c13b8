// SPDX-License-Identifier: GPL-2.0-only
// fkt_selection: shows a recording in the browser, so that a part of it can be selected and
// extracted.
#include "cli/base/messages.h"
#include "cli/fkt_selection/select.h"

int main(int argc, char** argv) {
  fkt::cli::ignore_sigpipe();
  return fkt::cli::select_part(argc, argv);
}
