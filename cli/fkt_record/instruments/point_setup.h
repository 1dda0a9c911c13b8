// SPDX-License-Identifier: GPL-2.0-only
// The tracepoints and modules' probes that are recorded: their form for FKT_START, and their
// description in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "cli/fkt_record/instruments/numbers.h"
#include "lib/base/result.h"
#include "lib/instrument/point_plan.h"

namespace fkt::record {

class PointSetup {
 public:
  // instrument: its number among all of the recording; numbers: of the recording.
  void add(const PointPlan& plan, std::uint16_t instrument, fkt_layer layer, Numbers& numbers,
           const std::optional<AsyncPart>& async);
  // Called once, after the last add(). Error (usage): there are too many tracepoints.
  Status finish();
  // Gives the instruments the numbers of the recording: places[n] is that of the n-th one here.
  void renumber(std::span<const std::uint16_t> places);

  bool empty() const { return points_.empty(); }
  // For FKT_START; valid as long as this object.
  const fkt_points& arguments() const { return *arguments_; }

 private:
  std::vector<fkt_point> points_;
  std::vector<std::byte> programs_;  // its memory stays where it is when this object is moved
  std::vector<std::unique_ptr<const std::string>> descriptions_;  // of probes, likewise
  std::unique_ptr<fkt_points> arguments_ = std::make_unique<fkt_points>();
};

}  // namespace fkt::record
