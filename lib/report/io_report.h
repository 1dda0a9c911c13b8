// SPDX-License-Identifier: GPL-2.0-only
// Reads and writes per process as a table (fkt_print --files, --disks, --sockets).
#pragma once

#include "lib/analyse/call_subjects.h"
#include "lib/analyse/io_use.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"

namespace fkt {

struct IoReport {
  const IoUse& use;
  IoUse::Table table;
  const RecordingInfo& info;
  const Tasks& tasks;
  const TimeFormat& time;
  std::size_t top;  // rows

  void text(TextWriter& out) const;
  // Writes a JSON object per line.
  void json(TextWriter& out) const;
  // Writes the members of json() as CSV (RFC 4180) with a head line.
  void csv(TextWriter& out) const;
};

}  // namespace fkt
