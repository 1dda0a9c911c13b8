// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/user_plan.h"

#include <unordered_set>

#include "lib/base/suggest.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

Error none_fits(const Instrument& instrument, const UserFile& file) {
  if (file.functions().empty()) {
    return {ErrorCode::usage, file.path() +
                                  " names no functions: it is stripped (a package of "
                                  "its debug symbols would have them)"};
  }
  if (!instrument.place.names.is_one_name()) {
    return {ErrorCode::usage,
            "\"" + instrument.text + "\": no function of " + file.path() + " fits"};
  }
  std::vector<std::string> names;
  for (const UserFunction& function : file.functions()) names.push_back(function.name);
  const std::string& name = instrument.place.names.patterns.front();
  return {ErrorCode::usage,
          file.path() + " has no function \"" + name + "\"" + did_you_mean(name, names)};
}

constexpr const char* kChooses =
    "it is an IFUNC, which chooses another function when a program is loaded: that one is called";

}  // namespace

Result<UserPlan> plan_user(const Instrument& instrument, const UserPlanSources& sources) {
  UserPlan plan;
  std::unordered_set<std::uint64_t> known;
  for (const UserFunction& function : sources.file.functions()) {
    if (!instrument.place.names.has(function.name)) continue;
    std::string name = sources.shown + ':' + function.name;
    if (function.chooses) {
      plan.left_out.push_back({std::move(name), kChooses});
    } else if (known.insert(function.offset).second) {
      plan.taken.push_back({function.offset, std::move(name)});
    }
  }
  if (plan.taken.empty()) {
    if (plan.left_out.empty()) return none_fits(instrument, sources.file);
    return Error{ErrorCode::usage,
                 plan.left_out.front().name + ": " + plan.left_out.front().reason};
  }
  if (plan.taken.size() > sources.most) {
    return Error{ErrorCode::usage,
                 "\"" + instrument.text + "\": " + counted(plan.taken.size(), "function") +
                     " fit: too many (at most " + std::to_string(sources.most) + ")"};
  }
  const Btf no_types = Btf::of_nothing();
  Result<CallPrograms> programs =
      compile_user_entry(instrument, {no_types, sources.ticks_per_second, sources.flags});
  if (!programs) {
    return Error{programs.error().code, instrument.text + ": " + programs.error().message};
  }
  plan.programs = std::move(*programs);
  return plan;
}

}  // namespace fkt
