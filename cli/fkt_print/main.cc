// SPDX-License-Identifier: GPL-2.0-only
// fkt_print: prints a recording as text or JSON: its events, then its statistics.
#include "cli/base/messages.h"
#include "cli/fkt_print/print.h"

int main(int argc, char** argv) {
  fkt::cli::ignore_sigpipe();
  return fkt::cli::print_recording(argc, argv);
}
