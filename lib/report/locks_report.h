// SPDX-License-Identifier: GPL-2.0-only
// Waits for locks as a table (fkt_print --locks).
#pragma once

#include "lib/analyse/lock_use.h"
#include "lib/analyse/program_code.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"

namespace fkt {

struct LocksReport {
  const LockUse& use;
  const Analysis& analysis;
  const ProgramCode& code;  // of the whole recording
  const TimeFormat& time;
  std::size_t top;  // rows

  void text(TextWriter& out) const;
  // Writes a JSON object per line.
  void json(TextWriter& out) const;
  // Writes the members of json() as CSV (RFC 4180) with a head line; of tasks the first three.
  void csv(TextWriter& out) const;
};

}  // namespace fkt
