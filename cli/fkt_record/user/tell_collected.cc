// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/tell_collected.h"

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "lib/base/text.h"

namespace fkt::record {
namespace {

// Why a program may have had no event: it cannot say so itself.
std::string reasons(bool functions) {
  return std::string("programs have some if they are built with ") +
         (functions
              ? "-finstrument-functions, or with -pg -mfentry, and not with -static, keep the "
                "variables FKT_USER and LD_PRELOAD"
              : "fkt/user.h (fkt-user(3)), keep the variable FKT_USER") +
         " (env -i, sudo and set-user-ID programs do not), and have this network namespace or this "
         "/tmp";
}

}  // namespace

void tell_collected(const CollectedFrom& from, const Collected& c) {
  if (c.rings == 0) {
    cli::warn("no thread of " + from.program + " had an event: " + reasons(from.functions));
  } else if (from.verbose) {
    cli::warn(counted(c.rings, "thread") + " had events");
  }
  for (const std::string& pattern : c.unmatched) {
    cli::warn("no function that was called fits \"" + pattern + "\"");
  }
  if (c.unfinished > 0) {
    cli::warn(counted(c.unfinished, "event") + " had not been finished when the thread ended");
  }
  if (c.broken > 0) {
    cli::warn(counted(c.broken, "ring") +
              " held what is no event; nothing after it was taken from there");
  }
  if (c.refused > 0)
    cli::warn(counted(c.refused, "request") + " of programs made no sense, or came too many");
  if (c.strangers > 0) {
    cli::warn(counted(c.strangers, "request") + " of other users' processes, which are not of " +
              from.program + ", were refused");
  }
  if (c.unasked > 0) {
    cli::warn(counted(c.unasked, "request") +
              " could not be sent: functions or events of programs that may not open sockets any "
              "more, or have changed their network and mount namespace, are missing");
  }
  if (c.too_deep > 0) {
    cli::warn(counted(c.too_deep, "call") +
              " were not recorded: their threads were in 65,536 others");
  }
  if (c.late > 0) {
    cli::warn(counted(c.late, "answer") +
              " came too late: threads or functions of which events are missing, unless the"
              " program ended meanwhile");
  }
}

}  // namespace fkt::record
