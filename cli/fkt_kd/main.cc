// SPDX-License-Identifier: GPL-2.0-only
// fkt_kd: shows how much time each function took: tables, call traces and flame graphs of FKT
// recordings and KFT logs.
#include "cli/base/messages.h"
#include "cli/fkt_kd/kd.h"

int main(int argc, char** argv) {
  fkt::cli::ignore_sigpipe();
  return fkt::cli::kd(argc, argv);
}
