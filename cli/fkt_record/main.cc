// SPDX-License-Identifier: GPL-2.0-only
// fkt_record: records what the kernel does while a command runs or while the machine starts, or
// what the command itself tells.
#include "cli/fkt_record/boot_session.h"
#include "cli/fkt_record/session.h"

int main(int argc, char** argv) {
  const fkt::record::Parsed parsed = fkt::record::parse_command_line(argc, argv);
  if (!parsed.request) return parsed.status;
  const fkt::record::Request& request = *parsed.request;
  if (request.boot == fkt::record::Request::Boot::begin) return fkt::record::run_from_boot(request);
  if (request.boot == fkt::record::Request::Boot::end) return fkt::record::run_boot_end(request);
  return fkt::record::run_session(request);
}
