// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/call_plan.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "lib/base/parse.h"
#include "lib/base/suggest.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

constexpr std::string_view kNeverReturn[] = {
#define FKT_NEVER_RETURNS(name) #name,
#include <fkt/never_return.def>
#undef FKT_NEVER_RETURNS
};
// What the kernel's side calls while it runs a program: its own calls would be mixed with the
// traced ones.
constexpr std::string_view kCalledByPrograms[] = {"copy_from_kernel_nofault",
                                                  "copy_from_kernel_nofault_allowed"};
// What a place calls the module "the kernel itself".
constexpr std::string_view kKernel = "vmlinux";

bool is_function(const Symbol& symbol) {
  const char type = static_cast<char>(std::tolower(static_cast<unsigned char>(symbol.type)));
  return type == 't' || type == 'w';
}

std::string key(std::string_view name, std::string_view module) {
  return std::string(name) + '\t' + std::string(module);
}

// Appends what makes two sets of programs equal.
void append(std::string& identity, const ProgramBlock& block) {
  identity.append(reinterpret_cast<const char*>(&block.program()), block.bytes());
}

class CallPlanner {
 public:
  CallPlanner(const Instrument& instrument, const CallPlanSources& sources)
      : instrument_(instrument), sources_(sources) {}

  Result<CallPlan> plan() {
    const std::vector<const Symbol*> fitting = find();
    if (fitting.empty()) return nothing_fits();
    plan_.shortest = std::numeric_limits<std::uint64_t>::max();
    for (const Symbol* const symbol : fitting) take(*symbol);
    if (plan_.taken.empty()) return nothing_taken();
    std::ranges::sort(plan_.taken, {}, &CallPlan::Taken::address);
    return std::move(plan_);
  }

 private:
  const Place& place() const { return instrument_.place; }

  bool is_of_group(const Symbol& symbol) const {
    if (place().group.empty()) return true;
    return place().group == (symbol.module.empty() ? kKernel : symbol.module);
  }

  // Returns the functions that fit, each name of a module once; counts them by name.
  std::vector<const Symbol*> find() {
    std::vector<const Symbol*> found;
    for (const Symbol& symbol : sources_.symbols) {
      if (!is_function(symbol) || !is_of_group(symbol) || !place().names.has(symbol.name)) continue;
      if (count_[key(symbol.name, symbol.module)]++ == 0) found.push_back(&symbol);
    }
    return found;
  }

  Error nothing_fits() const {
    if (!place().names.is_one_name()) {
      return {ErrorCode::usage, "\"" + instrument_.text + "\": no function fits"};
    }
    std::vector<std::string> names;
    for (const Symbol& symbol : sources_.symbols) {
      if (is_function(symbol) && is_of_group(symbol)) names.emplace_back(symbol.name);
    }
    const std::string& name = place().names.patterns[0];
    return {ErrorCode::usage, "no function is called \"" + name + "\"" + did_you_mean(name, names)};
  }

  Error nothing_taken() const {
    const CallPlan::LeftOut& first = plan_.left_out.front();
    if (plan_.left_out.size() == 1) return {ErrorCode::usage, first.name + ": " + first.reason};
    return {ErrorCode::usage, "\"" + instrument_.text + "\": none of the " +
                                  counted(plan_.left_out.size(), "function") +
                                  " that fit can be traced: " + first.name + ": " + first.reason};
  }

  void take(const Symbol& symbol) {
    std::string reason = reason_against(symbol);
    if (reason.empty()) reason = compile(symbol);
    if (!reason.empty()) {
      plan_.left_out.push_back(
          {std::string(symbol.name), std::string(symbol.module), std::move(reason)});
    }
  }

  // Returns why the function cannot be traced, whatever its arguments are; empty: it can.
  std::string reason_against(const Symbol& symbol) const {
    if (std::ranges::find(kNeverReturn, symbol.name) != std::end(kNeverReturn)) {
      return "it does not return";
    }
    if (std::ranges::find(kCalledByPrograms, symbol.name) != std::end(kCalledByPrograms)) {
      return "FKT calls it to read the values of others";
    }
    if (!sources_.traceable.has(symbol.name, symbol.module)) {
      return "the kernel does not let it be traced";
    }
    const unsigned same = count_.at(key(symbol.name, symbol.module));
    if (same > 1) return std::to_string(same) + " functions are called so";
    if (symbol.name.find('.') != symbol.name.npos) {
      return "the compiler made this variant: its arguments are not known";
    }
    return {};
  }

  // Returns why the function's arguments forbid it; empty: it is taken.
  std::string compile(const Symbol& symbol) {
    const Btf* const btf = sources_.types(symbol.module);
    if (btf == nullptr)
      return "the types of module " + std::string(symbol.module) + " are not described";
    const Result<Prototype> prototype = btf->prototype(symbol.name);
    if (!prototype) return prototype.error().message;
    Result<CallPrograms> programs =
        compile_call(instrument_, *prototype, {*btf, sources_.ticks_per_second, sources_.flags});
    if (!programs) return programs.error().message;
    plan_.shortest = std::min(plan_.shortest, programs->shortest);
    plan_.taken.push_back({symbol.address, std::string(symbol.name), std::string(symbol.module),
                           share(std::move(*programs))});
    return {};
  }

  // Returns the index of equal programs, which are added if there are none.
  std::size_t share(CallPrograms programs) {
    std::string identity;
    append(identity, programs.entry);
    append(identity, programs.exit);
    for (const RecordedField& field : programs.fields) {
      identity += field.name + '\t' + field.shown_as + '\t' +
                  std::to_string(static_cast<int>(field.kind)) + '\t';
    }
    const auto [found, is_new] = known_.emplace(std::move(identity), plan_.programs.size());
    if (is_new) plan_.programs.push_back(std::move(programs));
    return found->second;
  }

  const Instrument& instrument_;
  const CallPlanSources& sources_;
  std::unordered_map<std::string, unsigned> count_;  // symbols by name and module
  std::map<std::string, std::size_t> known_;         // programs
  CallPlan plan_;
};

}  // namespace

TraceableFunctions::TraceableFunctions(std::string_view available_filter_functions) {
  for_each_line(available_filter_functions, [this](std::string_view line, std::size_t) {
    const std::string_view name = take_until(line, ' ');
    if (line.size() > 2 && line.front() == '[') line = line.substr(1, line.size() - 2);
    names_.insert(key(name, line));
    return true;
  });
}

bool TraceableFunctions::has(std::string_view name, std::string_view module) const {
  return names_.contains(key(name, module));
}

Result<CallPlan> plan_calls(const Instrument& instrument, const CallPlanSources& sources) {
  return CallPlanner(instrument, sources).plan();
}

}  // namespace fkt
