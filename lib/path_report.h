// SPDX-License-Identifier: GPL-2.0-only
// The critical path in words, as text, JSON and CSV.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/critical_path.h"
#include "lib/time_format.h"
#include "lib/writer.h"

namespace fkt {

struct PathTable {
  struct Row {
    std::string task, what;   // "find", "running in sys_lstat"
    std::uint64_t ticks = 0;  // how long
    std::uint64_t from = 0;   // of a step: ticks since the recording's start
    std::uint32_t pid = 0;    // of a step
  };
  std::vector<Row> sums;   // what of the path's time went to what, most first
  std::vector<Row> steps;  // the path
  std::uint64_t all = 0;   // ticks
};

PathTable path_table(const std::vector<PathStep>& path, const Analysis& analysis);
// The sums, then the path, step by step.
void write_path(Writer& out, const PathTable& table, const TimeFormat& time);
// By docs/kd-schema.json.
void write_path_json(Writer& out, const PathTable& table, const TimeFormat& time);
// Two tables with an empty line between them, as lib/report_csv.h has them.
void write_path_csv(Writer& out, const PathTable& table, const TimeFormat& time);

}  // namespace fkt
