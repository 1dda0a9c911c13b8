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

struct DiffReport {
  const std::vector<DiffRow>& rows;
  DiffSide before, after;
  TimeUnit unit;
  bool per_second = false;  // text: rates instead of sums; needs both durations

  void text(TextWriter& out) const;
  void json(TextWriter& out) const;
  void csv(TextWriter& out) const;
};

}  // namespace fkt
