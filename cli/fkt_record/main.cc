// SPDX-License-Identifier: GPL-2.0-only
// fkt_record: records what the kernel does while a command runs, or what the command itself tells.
#include "cli/fkt_record/session.h"
#include "cli/fkt_record/user_session.h"

int main(int argc, char** argv) {
  const fkt::record::Parsed parsed = fkt::record::parse_command_line(argc, argv);
  if (!parsed.request) return parsed.status;
  return parsed.request->user_only ? fkt::record::run_user_session(*parsed.request)
                                   : fkt::record::run_session(*parsed.request);
}
