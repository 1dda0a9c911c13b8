// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/probe_plan.h"

#include <algorithm>

#include "lib/base/suggest.h"
#include "lib/base/text.h"
#include "lib/query/expression.h"

namespace fkt {
namespace {

class ProbePlanner {
 public:
  ProbePlanner(const Instrument& instrument, std::span<const ModuleProbe> probes,
               double ticks_per_second, const FlagNames& flags)
      : instrument_(instrument),
        probes_(probes),
        ticks_per_second_(ticks_per_second),
        flags_(flags) {}

  Result<PointPlan> plan() {
    for (const ModuleProbe& probe : probes_) {
      if (!is_of_module(instrument_.place, probe.module)) continue;
      if (!probe.name.empty() && !instrument_.place.names.has(probe.name)) continue;
      const std::string reason = probe.wrong.empty() ? take(probe) : probe.wrong;
      if (!reason.empty()) plan_.left_out.push_back({shown(probe), reason});
    }
    if (!plan_.taken.empty()) return std::move(plan_);
    if (plan_.left_out.empty()) return nothing_fits();
    const PointPlan::LeftOut& first = plan_.left_out.front();
    return refusal(first.name + ": " + first.reason);
  }

 private:
  static std::string shown(const ModuleProbe& probe) {
    return probe.module + ":" + (probe.name.empty() ? "?" : probe.name);
  }
  Error refusal(const std::string& what) const {
    return {ErrorCode::usage, "\"" + instrument_.text + "\": " + what};
  }

  Error nothing_fits() const {
    std::vector<std::string> names, modules;
    for (const ModuleProbe& probe : probes_) {
      modules.push_back(probe.module);
      if (is_of_module(instrument_.place, probe.module)) names.push_back(probe.name);
    }
    const Place& place = instrument_.place;
    if (names.empty()) {
      return refusal("no module \"" + place.group + "\" with probes" +
                     did_you_mean(place.group, modules));
    }
    return refusal(place.group + " has no probe that fits" +
                   did_you_mean(place.names.patterns.front(), names));
  }

  // Returns why the probe cannot be recorded; empty: it is taken.
  std::string take(const ModuleProbe& probe) {
    const Prototype prototype{.function = probe.name, .arguments = probe.fields};
    Result<PointProgram> program = compile_point(
        with_default_values(probe), prototype, {probe_types(), ticks_per_second_, flags_}, nullptr);
    if (!program) return program.error().message;
    PointPlan::Taken& taken = plan_.taken.emplace_back();
    taken.name = shown(probe);
    taken.arguments = probe.fields.size();
    taken.program = std::move(*program);
    taken.module = probe.module;
    taken.description = probe.description;
    taken.layer = probe.layer;
    return {};
  }

  Instrument with_default_values(const ModuleProbe& probe) const {
    Instrument instrument = instrument_;
    if (!instrument.values.empty() || !instrument.action.records()) return instrument;
    for (const Prototype::Argument& field : probe.fields) {
      instrument.values.emplace_back().path.root = field.name;
    }
    return instrument;
  }

  const Instrument& instrument_;
  const std::span<const ModuleProbe> probes_;
  const double ticks_per_second_;
  const FlagNames& flags_;
  PointPlan plan_;
};

}  // namespace

bool is_of_module(const Place& place, std::string_view module) {
  return place.is_file() ? module_of_file(place.group) == module : fits(module, place.group);
}

Result<PointPlan> plan_probes(const Instrument& instrument, std::span<const ModuleProbe> probes,
                              double ticks_per_second, const FlagNames& flags) {
  return ProbePlanner(instrument, probes, ticks_per_second, flags).plan();
}

}  // namespace fkt
