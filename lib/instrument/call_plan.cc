// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/call_plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "lib/base/parse.h"
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
    for (const Symbol* const symbol : fitting) take(*symbol);
    limit_probes();
    if (plan_.taken.empty()) return nothing_taken();
    std::ranges::sort(plan_.taken, {}, &CallPlan::Taken::address);
    return std::move(plan_);
  }

 private:
  const Place& place() const { return instrument_.place; }
  bool at_entry() const { return place().point == Place::Point::entry; }
  bool has_probes() const { return sources_.most_probes > 0; }
  // The compiler's own names have a suffix: vfs_read.part.0.
  static bool is_variant(const Symbol& symbol) { return symbol.name.find('.') != symbol.name.npos; }

  bool is_of_group(const Symbol& symbol) const {
    if (place().group.empty()) return true;
    return place().group == (symbol.module.empty() ? kKernel : symbol.module);
  }

  // Returns the functions that fit, for whole calls each name of a module once; counts them by
  // name.
  std::vector<const Symbol*> find() {
    std::vector<const Symbol*> found, named;
    const bool is_one = place().names.is_one_name();
    if (is_one) named = sources_.functions.named(place().names.patterns[0]);
    for (const Symbol* const symbol :
         is_one ? std::span<const Symbol* const>(named) : sources_.functions.all()) {
      if (!is_of_group(*symbol) || (!is_one && !place().names.has(symbol->name))) continue;
      const bool is_first = count_[key(symbol->name, symbol->module)]++ == 0;
      if (is_first || at_entry() || has_probes()) found.push_back(symbol);
    }
    return found;
  }

  Error nothing_fits() const {
    if (!place().names.is_one_name()) {
      return {ErrorCode::usage, "\"" + instrument_.text + "\": no function fits"};
    }
    return sources_.functions.none_called(place().names.patterns[0]);
  }

  Error nothing_taken() const {
    const CallPlan::LeftOut& first = plan_.left_out.front();
    if (plan_.left_out.size() == 1) return {ErrorCode::usage, first.name + ": " + first.reason};
    return {ErrorCode::usage, "\"" + instrument_.text + "\": none of the " +
                                  counted(plan_.left_out.size(), "function") +
                                  " that fit can be traced: " + first.name + ": " + first.reason};
  }

  void take(const Symbol& symbol) {
    std::string reason = at_entry() ? reason_against_entry(symbol) : reason_against_call(symbol);
    if (reason.empty()) reason = at_entry() ? compile_entry(symbol) : compile_call(symbol);
    if (!reason.empty()) {
      plan_.left_out.push_back(
          {std::string(symbol.name), std::string(symbol.module), std::move(reason)});
    }
  }

  // Returns why the function cannot be traced, whatever its arguments are; empty: it can.
  std::string reason_against_entry(const Symbol& symbol) const {
    const unsigned traceable = sources_.traceable.count(symbol.name, symbol.module);
    if (traceable == 0) return "the kernel does not let it be traced";
    const unsigned same = count_.at(key(symbol.name, symbol.module));
    if (same <= traceable) return {};
    return std::to_string(same) + " functions are called so, and not all of them can be traced";
  }

  // Returns why whole calls cannot be traced, whatever the function's arguments are; empty: they
  // can.
  std::string reason_against_call(const Symbol& symbol) const {
    if (std::ranges::find(kNeverReturn, symbol.name) != std::end(kNeverReturn)) {
      return "it does not return";
    }
    if (std::ranges::find(kCalledByPrograms, symbol.name) != std::end(kCalledByPrograms)) {
      return "FKT calls it to read the values of others";
    }
    return reason_against_entry(symbol);
  }

  // Returns why the arguments are not known, whatever the types say; empty: they may be.
  std::string not_described(const Symbol& symbol) const {
    const unsigned same = count_.at(key(symbol.name, symbol.module));
    if (same > 1) return std::to_string(same) + " functions are called so";
    if (is_variant(symbol)) return "the compiler made this variant: its arguments are not known";
    return {};
  }

  Result<Prototype> prototype_of(const Symbol& symbol, const Btf* btf) const {
    if (btf == nullptr) {
      return Error{ErrorCode::usage,
                   "the types of module " + std::string(symbol.module) + " are not described"};
    }
    return btf->prototype(symbol.name);
  }

  // What is known of a function's arguments.
  struct Described {
    const Btf* btf = nullptr;  // always set
    Prototype prototype;       // without arguments if they are not known
    std::string unknown;       // why they are not known; empty: they are
  };

  Described describe(const Symbol& symbol) const {
    Described described{sources_.types(symbol.module), {}, not_described(symbol)};
    if (described.unknown.empty()) {
      Result<Prototype> known = prototype_of(symbol, described.btf);
      if (known) {
        described.prototype = std::move(*known);
        return described;
      }
      described.unknown = known.error().message;
    }
    described.btf = sources_.types({});
    described.prototype.function = symbol.name;
    return described;
  }

  CallContext context(const Described& described, bool by_probe) const {
    return {*described.btf, sources_.ticks_per_second, sources_.flags, by_probe};
  }

  // Returns why the function's arguments forbid it; empty: it is taken.
  std::string compile_call(const Symbol& symbol) {
    const Described described = describe(symbol);
    std::string against = described.unknown;
    if (against.empty()) {
      Result<CallPrograms> through =
          fkt::compile_call(instrument_, described.prototype, context(described, false));
      if (through) return add_call(symbol, std::move(*through), {});
      against = through.error().message;
    }
    if (!has_probes()) return against;
    if (!sources_.traceable.can_be_probed(symbol.name)) {
      return against + "; the kernel lets nobody set a probe in it";
    }
    Result<CallPrograms> probed =
        fkt::compile_call(instrument_, described.prototype, context(described, true));
    if (probed) return add_call(symbol, std::move(*probed), std::move(against));
    return described.unknown.empty() ? probed.error().message : against;
  }

  std::string add_call(const Symbol& symbol, CallPrograms programs, std::string by_probe) {
    add(symbol, std::move(programs), std::move(by_probe));
    return {};
  }

  // Arguments that are not known matter only if the instrument asks for them.
  std::string compile_entry(const Symbol& symbol) {
    if (instrument_.values.empty() && !instrument_.condition) {
      add(symbol, {}, {});
      return {};
    }
    const Described described = describe(symbol);
    Result<CallPrograms> programs =
        fkt::compile_entry(instrument_, described.prototype, context(described, false));
    if (!programs) {
      return described.unknown.empty() ? programs.error().message : described.unknown;
    }
    add(symbol, std::move(*programs), {});
    return {};
  }

  void add(const Symbol& symbol, CallPrograms programs, std::string by_probe) {
    plan_.taken.push_back({symbol.address, std::string(symbol.name), std::string(symbol.module),
                           share(std::move(programs)), std::move(by_probe)});
  }

  // A return probe takes long to be set, so many are too many.
  void limit_probes() {
    const auto needs = [](const CallPlan::Taken& taken) { return !taken.by_probe.empty(); };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(plan_.taken, needs));
    if (count <= sources_.most_probes) return;
    for (const CallPlan::Taken& taken : plan_.taken) {
      if (!needs(taken)) continue;
      plan_.left_out.push_back({taken.name, taken.module,
                                taken.by_probe + "; return probes for " +
                                    counted(count, "function") + " are too many (at most " +
                                    std::to_string(sources_.most_probes) + ")"});
    }
    std::erase_if(plan_.taken, needs);
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

TraceableFunctions::TraceableFunctions(std::string_view available_filter_functions,
                                       std::string_view blacklist) {
  for_each_line(blacklist, [this](std::string_view line, std::size_t) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string_view::npos) unprobed_.emplace(line.substr(tab + 1));
    return true;
  });
  for_each_line(available_filter_functions, [this](std::string_view line, std::size_t) {
    const std::string_view name = take_until(line, ' ');
    if (line.size() > 2 && line.front() == '[') line = line.substr(1, line.size() - 2);
    names_[key(name, line)]++;
    return true;
  });
}

bool TraceableFunctions::can_be_probed(std::string_view name) const {
  return !unprobed_.contains(std::string(name));
}

unsigned TraceableFunctions::count(std::string_view name, std::string_view module) const {
  const auto found = names_.find(key(name, module));
  return found == names_.end() ? 0 : found->second;
}

Result<CallPlan> plan_calls(const Instrument& instrument, const CallPlanSources& sources) {
  return CallPlanner(instrument, sources).plan();
}

}  // namespace fkt
