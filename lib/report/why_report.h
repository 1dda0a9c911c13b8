// SPDX-License-Identifier: GPL-2.0-only
// Why a call took long, on one screen (fkt_print --why): the call with its file, peer or arguments;
// the time on its critical path, part by part; of each wait the request to a disk, who had the CPU,
// who held the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/analyse/slow_call.h"
#include "lib/base/json_writer.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"

namespace fkt {

struct WhyReport {
  const SlowCall& call;
  const TimeFormat& time;
  std::size_t lines;  // at most so many are written as text, if `columns` are enough for each

  // Writes the screen. Lines are cut to the writer's columns.
  void text(TextWriter& out) const;
  // Writes one object on a line.
  void json(TextWriter& out) const;
};

}  // namespace fkt
