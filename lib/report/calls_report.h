// SPDX-License-Identifier: GPL-2.0-only
// The calls of each task as a table (fkt_print --calls).
#pragma once

#include <cstddef>

#include "lib/analyse/task_calls.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"

namespace fkt {

struct CallsReport {
  const TaskCalls& calls;
  const Analysis& analysis;
  const TimeFormat& time;
  std::size_t top;  // most calls of a task, and most tasks

  // Writes a table for each task, and the numbers of calls and tasks that are left out.
  void text(TextWriter& out) const;
  // Writes a JSON object for each call of each task, on a line of its own.
  void json(TextWriter& out) const;
  // Writes the table as CSV (RFC 4180) with a head line. All errors of a call are one field:
  // "ENOENT 3, EINTR 1".
  void csv(TextWriter& out) const;
};

}  // namespace fkt
