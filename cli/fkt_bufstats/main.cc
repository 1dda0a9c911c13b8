// SPDX-License-Identifier: GPL-2.0-only
// fkt_bufstats: shows how full FKT's own buffers were while it recorded.
#include "cli/base/messages.h"
#include "cli/fkt_bufstats/bufstats.h"

int main(int argc, char** argv) {
  fkt::cli::ignore_sigpipe();
  return fkt::cli::buffer_statistics(argc, argv);
}
