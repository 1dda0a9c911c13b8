// SPDX-License-Identifier: GPL-2.0-only
// Selects the modules' own probes (lib/instrument/module_probe.h) for an instrument, with their
// programs, and gives the reasons why others that fit are left out.
#pragma once

#include <span>
#include <string>

#include "lib/base/result.h"
#include "lib/instrument/module_probe.h"
#include "lib/instrument/point_plan.h"

namespace fkt {

// Returns whether the place's module, which may be a pattern or a path, is this one.
bool is_of_module(const Place& place, std::string_view module);

// An instrument that records hits without naming values records all fields. flags: of all
// instruments. Names of taken and left out ones:
// "MODULE:PROBE". Error (usage): the patterns fit no probe, or none of those that they fit can be
// recorded.
Result<PointPlan> plan_probes(const Instrument& instrument, std::span<const ModuleProbe> probes,
                              double ticks_per_second, const FlagNames& flags = FlagNames::none());

}  // namespace fkt
