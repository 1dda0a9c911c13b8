// SPDX-License-Identifier: GPL-2.0-only
// The comparison of two recordings (lib/calls/function_diff.h) as text, JSON and CSV. Times are in
// `unit`, which is not cycles: the clocks of two recordings tick at different rates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/calls/function_diff.h"

namespace fkt {

// One side of the comparison.
struct DiffSide {
  std::string name;                       // of its file
  std::optional<std::uint64_t> duration;  // how long was recorded (ns); nothing: not known
};

// Something that the two recordings do not have in common, so that their figures may differ for
// that reason.
struct Unlike {
  std::string what;           // "layers"
  std::string before, after;  // what only this side has
};

// Compares what was recorded, where, and how much of it was lost.
std::vector<Unlike> unlike(const CallSource& before, const CallSource& after);

struct DiffReport {
  const std::vector<DiffRow>& rows;
  const std::vector<Unlike>& differences;
  DiffSide before, after;
  TimeUnit unit;
  bool per_second = false;  // text: rates instead of sums; needs both durations

  void text(TextWriter& out) const;
  void json(TextWriter& out) const;
  void csv(TextWriter& out) const;
};

}  // namespace fkt
