// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/point_setup.h"

#include <algorithm>

namespace fkt::record {

void PointSetup::add(const PointPlan& plan, std::uint16_t instrument, fkt_layer layer,
                     Numbers& numbers, const std::optional<AsyncPart>& async) {
  for (const PointPlan::Taken& taken : plan.taken) {
    fkt_point& point = points_.emplace_back();
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
    const ProgramBlock& block = taken.program.block;
    const auto* const program = reinterpret_cast<const std::byte*>(&block.program());
    programs_.insert(programs_.end(), program, program + block.bytes());
  }
}

void PointSetup::renumber(std::span<const std::uint16_t> places) {
  for (fkt_point& point : points_) point.instrument = places[point.instrument];
}

Status PointSetup::finish() {
  if (points_.size() > FKT_POINTS_MOST || programs_.size() > FKT_CALLS_PROGRAM_BYTES) {
    return Error{ErrorCode::usage,
                 "-i: too many tracepoints (at most " + std::to_string(FKT_POINTS_MOST) + ")"};
  }
  fkt_points& a = *arguments_;
  a.points = reinterpret_cast<std::uintptr_t>(points_.data());
  a.programs = reinterpret_cast<std::uintptr_t>(programs_.data());
  a.count = static_cast<std::uint32_t>(points_.size());
  a.program_bytes = static_cast<std::uint32_t>(programs_.size());
  return Done{};
}

}  // namespace fkt::record
