// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/point_setup.h"

#include <algorithm>

namespace fkt::record {

void PointSetup::add(const PointPlan& plan, std::uint16_t instrument, fkt_layer layer,
                     Numbers& numbers, const std::optional<AsyncPart>& async) {
  for (const PointPlan::Taken& taken : plan.taken) {
    fkt_point& point = places_.emplace_back();
    const bool is_probe = !taken.description.empty();
    const std::string& name = is_probe ? taken.module : taken.name;
    std::copy_n(name.begin(), std::min(name.size(), sizeof point.name - 1), std::begin(point.name));
    if (is_probe) {
      descriptions_.push_back(std::make_unique<const std::string>(taken.description));
      point.probe = reinterpret_cast<std::uintptr_t>(descriptions_.back()->c_str());
    }
    point.number = numbers.add(taken.name, taken.program.fields, layer, async);
    point.instrument = instrument;
    point.arguments = static_cast<std::uint16_t>(taken.arguments);
    point.record_bytes = taken.record_bytes;
    add_program(taken.program.block);
  }
}

Status PointSetup::finish() {
  if (places_.size() > FKT_POINTS_MOST || programs_.size() > FKT_CALLS_PROGRAM_BYTES) {
    return too_many("tracepoints", FKT_POINTS_MOST);
  }
  set_arguments(&fkt_points::points);
  return Done{};
}

}  // namespace fkt::record
