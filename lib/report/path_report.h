// SPDX-License-Identifier: GPL-2.0-only
// The critical path as text, JSON and CSV.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/analyse/critical_path.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"

namespace fkt {

struct PathTable {
  struct Row {
    std::string task, what;   // "find", "running in sys_lstat"
    std::uint64_t ticks = 0;  // duration
    std::uint64_t from = 0;   // only in steps: ticks since the recording's start
    std::uint32_t pid = 0;    // only in steps
  };
  std::vector<Row> sums;        // time per task and activity, longest first
  std::vector<Row> steps;       // the path in time order
  std::uint64_t all = 0;        // duration of the whole path (ticks)
  std::uint64_t all_steps = 0;  // of the whole path

  // Keeps the first `most` rows of each.
  void cut(std::size_t most);
};

// Returns what the task does in that step: "asleep in sys_read, woken by irq 14 ide0". Names are
// not escaped.
std::string step_text(const PathStep& step, const Analysis& analysis);
// Returns the tables of the path, which critical_path() has found in this analysis.
PathTable path_table(const std::vector<PathStep>& path, const Analysis& analysis);
// Writes the sums, and with `steps` the path step by step.
void write_path(TextWriter& out, const PathTable& table, bool steps, const TimeFormat& time);
// Writes one object (docs/kd-schema.json).
void write_path_json(TextWriter& out, const PathTable& table, bool steps, const TimeFormat& time);
// Writes each as a table in the form of lib/report/report_csv.h.
void write_path_csv(TextWriter& out, const PathTable& table, bool steps, const TimeFormat& time);

}  // namespace fkt
