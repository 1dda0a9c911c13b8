// SPDX-License-Identifier: GPL-2.0-only
// What tasks waited for while they were off the CPU (lib/analyse/off_cpu.h) as text, JSON and CSV,
// and as a tree of paths for flame graphs.
#pragma once

#include <vector>

#include "lib/analyse/off_cpu.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/calls/call_tree.h"

namespace fkt {

struct OffCpuReport {
  const std::vector<OffCpu::Row>& rows;
  std::size_t top;  // most rows that are written; the percentages are of all rows
  const TimeFormat& time;

  void text(TextWriter& out) const;
  // Writes {"unit": ..., "off_cpu": [...]}, as docs/kd-schema.json describes it.
  void json(TextWriter& out) const;
  void csv(TextWriter& out) const;
};

// Adds each row to the tree as a path: task, open calls, kind of wait, waker.
void add_off_cpu(CallTree& tree, const std::vector<OffCpu::Row>& rows);

}  // namespace fkt
