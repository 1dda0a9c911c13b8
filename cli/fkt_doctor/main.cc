// SPDX-License-Identifier: GPL-2.0-only
// fkt_doctor: finds what prevents recording on this machine.
#include "cli/base/messages.h"
#include "cli/fkt_doctor/doctor.h"

int main(int argc, char** argv) {
  fkt::cli::ignore_sigpipe();
  return fkt::cli::examine_machine(argc, argv);
}
