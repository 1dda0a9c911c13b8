// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/tell_collected.h"

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "lib/base/text.h"

namespace fkt::record {

void tell_collected(const CollectedFrom& from, const Collected& c) {
  if (c.rings == 0) {
    cli::warn("no thread of " + from.program + " had an event: is it built with " +
              (from.functions ? "-finstrument-functions, and not with -static?"
                              : "fkt/user.h (fkt-user(3))?"));
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
  if (c.late > 0) {
    cli::warn(counted(c.late, "answer") +
              " came too late: threads or functions of which events are missing, unless the"
              " program ended meanwhile");
  }
}

}  // namespace fkt::record
