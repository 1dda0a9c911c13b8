// SPDX-License-Identifier: GPL-2.0-only
// fkt_record: records what the kernel does while a command runs.
#include "cli/fkt_record/session.h"

int main(int argc, char** argv) {
  const fkt::record::Parsed parsed = fkt::record::parse_command_line(argc, argv);
  return parsed.request ? fkt::record::run_session(*parsed.request) : parsed.status;
}
