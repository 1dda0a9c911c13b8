// SPDX-License-Identifier: GPL-2.0-only
// fkt_receive: receives the recordings that fkt_record -f tcp://... sends.
#include "cli/fkt_receive/receive.h"

int main(int argc, char** argv) {
  const fkt::receive::Parsed parsed = fkt::receive::parse_command_line(argc, argv);
  return parsed.request ? fkt::receive::receive(*parsed.request) : parsed.status;
}
