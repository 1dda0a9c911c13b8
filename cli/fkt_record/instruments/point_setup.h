// SPDX-License-Identifier: GPL-2.0-only
// The tracepoints and modules' probes that are recorded: their form for FKT_START, and their
// description in the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fkt/events.h>

#include "cli/fkt_record/instruments/numbers.h"
#include "cli/fkt_record/instruments/place_setup.h"
#include "lib/base/result.h"
#include "lib/instrument/point_plan.h"

namespace fkt::record {

class PointSetup : public PlaceSetup<fkt_point, fkt_points> {
 public:
  // instrument: its number among all of the recording; numbers: of the recording.
  void add(const PointPlan& plan, std::uint16_t instrument, fkt_layer layer, Numbers& numbers,
           const std::optional<AsyncPart>& async);
  // Called once, after the last add(). Error (usage): there are too many tracepoints.
  Status finish();

 private:
  // Of probes; their memory stays where it is when this object is moved.
  std::vector<std::unique_ptr<const std::string>> descriptions_;
};

}  // namespace fkt::record
