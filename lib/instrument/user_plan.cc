// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/user_plan.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "lib/base/suggest.h"
#include "lib/base/text.h"
#include "lib/instrument/function_name.h"

namespace fkt {
namespace {

constexpr const char* kChooses =
    "it is an IFUNC, which chooses another function when a program is loaded: that one is called";
constexpr const char* kKeepsReturn =
    "it keeps the address that it returns to, and the kernel's return probe would end the program";

// Functions that return once more, to an address that they have read from the stack.
constexpr std::string_view kReturnAgain[] = {"setjmp",      "_setjmp",    "sigsetjmp",
                                             "__sigsetjmp", "getcontext", "swapcontext"};

class UserPlanner {
 public:
  UserPlanner(const Instrument& instrument, const UserPlanSources& sources)
      : instrument_(instrument), sources_(sources), place_(instrument.place) {}

  Result<UserPlan> plan() {
    FKT_TRY(is_probe() ? take_probes() : take_functions());
    if (plan_.taken.size() <= sources_.most) return std::move(plan_);
    return wrong("\"" + instrument_.text + "\": " + counted(plan_.taken.size(), what()) +
                 " fit: too many (at most " + std::to_string(sources_.most) + ")");
  }

 private:
  static Error wrong(std::string message) { return {ErrorCode::usage, std::move(message)}; }
  bool is_probe() const { return place_.kind == Place::Kind::user_probe; }
  const char* what() const { return is_probe() ? "probe" : "function"; }

  // A function of C++ is also found by its name as it is shown.
  bool has(const std::string& symbol) const {
    return place_.names.has(symbol, symbol.starts_with("_Z") ? function_name(symbol) : "");
  }

  Status take_functions() {
    std::unordered_set<std::uint64_t> known;
    const bool at_return = place_.point != Place::Point::entry;
    if (at_return && sources_.file.moves_stacks()) {
      return wrong(sources_.file.path() +
                   " moves its stacks (Go), and the kernel's return probes would end it: only its "
                   "functions' entries can be recorded");
    }
    for (const UserFunction& function : sources_.file.functions()) {
      if (!has(function.name)) continue;
      std::string name = shown(function.name);
      if (function.chooses) {
        plan_.left_out.push_back({std::move(name), kChooses});
      } else if (at_return &&
                 std::ranges::find(kReturnAgain, function.name) != std::end(kReturnAgain)) {
        plan_.left_out.push_back({std::move(name), kKeepsReturn});
      } else if (known.insert(function.offset).second) {
        plan_.taken.push_back({function.offset, 0, std::move(name), 0});
      }
    }
    if (plan_.taken.empty()) return nothing_taken();
    return compile(nullptr);
  }

  Status take_probes() {
    for (const UserProbe& probe : sources_.file.probes()) {
      if (!place_.names.has(probe.name)) continue;
      if (!place_.provider.empty() && place_.provider != probe.provider) continue;
      plan_.taken.push_back(
          {probe.offset, probe.counter, shown(probe.name), plan_.programs.size()});
      FKT_TRY(compile(&probe.arguments));
    }
    if (plan_.taken.empty()) return none_fits();
    return Done{};
  }

  std::string shown(const std::string& name) const { return sources_.shown + ':' + name; }

  Status compile(const std::vector<UserArgument>* probe_arguments) {
    const Btf no_types = Btf::of_nothing();
    CallContext context{no_types, sources_.ticks_per_second, sources_.flags};
    context.probe_arguments = probe_arguments;
    const Instrument& asked = probe_arguments != nullptr ? with_all(*probe_arguments) : instrument_;
    Result<CallPrograms> programs = place_.point == Place::Point::entry
                                        ? compile_user_entry(asked, context)
                                        : compile_user_call(asked, context);
    if (!programs) {
      return Error{programs.error().code, instrument_.text + ": " + programs.error().message};
    }
    plan_.programs.push_back(std::move(*programs));
    return Done{};
  }

  // Without a list of values, events of a probe have all its arguments.
  const Instrument& with_all(const std::vector<UserArgument>& arguments) {
    const Action::Kind action = instrument_.action.kind;
    if (!instrument_.values.empty() ||
        (action != Action::Kind::record && action != Action::Kind::stack)) {
      return instrument_;
    }
    filled_ = instrument_;
    for (std::size_t i = 0; i < arguments.size(); i++) {
      if (!arguments[i].is_known) continue;
      FetchedValue value;
      value.path.root = "arg" + std::to_string(i + 1);
      value.form = FetchedValue::Form::number;
      filled_.values.push_back(std::move(value));
    }
    return filled_;
  }

  Error nothing_taken() const {
    if (plan_.left_out.empty()) return none_fits();
    return wrong(plan_.left_out.front().name + ": " + plan_.left_out.front().reason);
  }

  Error none_fits() const {
    const std::string& path = sources_.file.path();
    const std::vector<std::string> names = all_names();
    if (names.empty()) {
      return wrong(is_probe() ? path + " brings no probes along (USDT)"
                              : path +
                                    " names no functions: it is stripped (a package of its debug "
                                    "symbols would have them)");
    }
    if (!place_.names.is_one_name()) {
      return wrong("\"" + instrument_.text + "\": no " + what() + " of " + path + " fits");
    }
    const std::string& name = place_.names.patterns.front();
    return wrong(path + " has no " + what() + " \"" + name + "\"" + did_you_mean(name, names));
  }

  std::vector<std::string> all_names() const {
    std::vector<std::string> names;
    if (is_probe()) {
      for (const UserProbe& probe : sources_.file.probes()) names.push_back(probe.name);
    } else {
      for (const UserFunction& function : sources_.file.functions()) names.push_back(function.name);
    }
    return names;
  }

  const Instrument& instrument_;
  const UserPlanSources& sources_;
  const Place& place_;
  Instrument filled_;
  UserPlan plan_;
};

}  // namespace

Result<UserPlan> plan_user(const Instrument& instrument, const UserPlanSources& sources) {
  return UserPlanner(instrument, sources).plan();
}

}  // namespace fkt
