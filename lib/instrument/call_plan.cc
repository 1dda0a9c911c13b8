// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/call_plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "lib/base/parse.h"
#include "lib/base/text.h"
#include "lib/instrument/argument_words.h"
#include "lib/instrument/system_call.h"

namespace fkt {
namespace {

constexpr std::string_view kNeverReturn[] = {
#define FKT_NEVER_RETURNS(name) #name,
#include <fkt/never_return.def>
#undef FKT_NEVER_RETURNS
};
// Functions that FKT calls to run a program: tracing them would record FKT's own calls.
constexpr std::string_view kCalledByPrograms[] = {"copy_from_kernel_nofault",
                                                  "copy_from_kernel_nofault_allowed"};
// Module name by which a place means the kernel itself.
constexpr std::string_view kKernel = "vmlinux";

// A function as the kernel's lists call it. module: empty for the kernel itself.
struct FunctionName {
  std::string_view name, module;

  bool operator==(const FunctionName&) const = default;
};
struct FunctionNameHash {
  std::size_t operator()(const FunctionName& of) const {
    const std::hash<std::string_view> hash;
    return hash(of.name) + 31 * (of.module.empty() ? 0 : hash(of.module));
  }
};

// Appends what makes two sets of programs equal.
void append(std::string& identity, const ProgramBlock& block) {
  identity.append(reinterpret_cast<const char*>(&block.program()), block.bytes());
}

class CallPlanner {
 public:
  CallPlanner(const Instrument& instrument, const CallPlanSources& sources)
      : instrument_(instrument), sources_(sources) {}

  Result<CallPlan> plan() {
    const std::vector<Fitting> fitting = find();
    if (fitting.empty()) return nothing_fits();
    for (const Fitting& one : fitting) take(one);
    limit_probes();
    if (plan_.taken.empty()) return nothing_taken();
    // The kernel's symbols are nearly always sorted.
    if (!std::ranges::is_sorted(plan_.taken, {}, &CallPlan::Taken::address)) {
      std::ranges::sort(plan_.taken, {}, &CallPlan::Taken::address);
    }
    return std::move(plan_);
  }

 private:
  struct Fitting {
    const Symbol* symbol;
    const unsigned* same;  // how many symbols have its name and module
  };

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
  std::vector<Fitting> find() {
    std::vector<Fitting> found;
    std::vector<const Symbol*> named;
    const bool is_one = place().names.is_one_name();
    if (is_one) named = sources_.functions.named(place().names.patterns[0]);
    for (const Symbol* const symbol :
         is_one ? std::span<const Symbol* const>(named) : sources_.functions.all()) {
      if (!is_of_group(*symbol) || (!is_one && !place().names.has(symbol->name))) continue;
      unsigned& same = count_[{symbol->name, symbol->module}];
      if (same++ == 0 || at_entry() || has_probes()) found.push_back({symbol, &same});
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

  void take(const Fitting& one) {
    const Symbol& symbol = *one.symbol;
    std::string reason = at_entry() ? reason_against_entry(one) : reason_against_call(one);
    if (reason.empty()) reason = at_entry() ? compile_entry(one) : compile_call(one);
    if (!reason.empty()) {
      plan_.left_out.push_back(
          {std::string(symbol.name), std::string(symbol.module), std::move(reason)});
    }
  }

  // Returns why the function cannot be traced, whatever its arguments are; empty: it can.
  std::string reason_against_entry(const Fitting& one) const {
    const Symbol& symbol = *one.symbol;
    const unsigned traceable = sources_.traceable.count(symbol.name, symbol.module);
    if (traceable == 0) return "the kernel does not let it be traced";
    if (*one.same <= traceable) return {};
    return std::to_string(*one.same) +
           " functions are called so, and not all of them can be traced";
  }

  // Returns why whole calls cannot be traced, whatever the function's arguments are; empty: they
  // can.
  std::string reason_against_call(const Fitting& one) const {
    const Symbol& symbol = *one.symbol;
    if (std::ranges::find(kNeverReturn, symbol.name) != std::end(kNeverReturn)) {
      return "it does not return, or not as it was entered";
    }
    if (std::ranges::find(kCalledByPrograms, symbol.name) != std::end(kCalledByPrograms)) {
      return "FKT calls it to read the values of others";
    }
    return reason_against_entry(one);
  }

  // Returns why the arguments are not known, whatever the types say; empty: they may be.
  static std::string not_described(const Fitting& one) {
    if (*one.same > 1) return std::to_string(*one.same) + " functions are called so";
    if (is_variant(*one.symbol))
      return "the compiler made this variant: its arguments are not known";
    return {};
  }

  Result<Prototype> prototype_of(const Symbol& symbol, const Btf* btf) const {
    if (btf == nullptr) {
      return Error{ErrorCode::usage,
                   "the types of module " + std::string(symbol.module) + " are not described"};
    }
    return btf->prototype(symbol.name);
  }

  // The types of a function's arguments, or the reason why they are not known.
  struct Described {
    const Btf* btf = nullptr;  // always set
    Prototype prototype;       // without arguments if they are not known
    std::string unknown;       // why they are not known; empty: they are
  };

  Described describe(const Fitting& one) const {
    const Symbol& symbol = *one.symbol;
    Described described{sources_.types(symbol.module), {}, not_described(one)};
    if (described.unknown.empty()) {
      Result<Prototype> known = prototype_of(symbol, described.btf);
      if (known) {
        described.prototype = std::move(*known);
        if (place().is_system_call) add_arguments_of_call(described);
        return described;
      }
      described.unknown = known.error().message;
    }
    described.btf = sources_.types({});
    described.prototype.function = symbol.name;
    return described;
  }

  void add_arguments_of_call(Described& described) const {
    const std::string_view function = described.prototype.function;
    const std::string format =
        sources_.call_format ? sources_.call_format(function.substr(kSystemCallPrefix.size())) : "";
    add_call_arguments(described.prototype, format, *described.btf);
  }

  CallContext context(const Described& described, bool by_probe) const {
    return {*described.btf, sources_.ticks_per_second, sources_.flags, by_probe};
  }

  // Returns the index of the function's programs.
  Result<std::size_t> programs_for(const Described& described, bool by_probe) {
    std::optional<std::size_t>& alike = alike_[by_probe ? 1 : 0];
    const CallContext of = context(described, by_probe);
    if (alike) {
      FKT_TRY(by_probe ? Status(Done{})
                       : may_call_through(lay_out_arguments(of.btf, described.prototype)));
      return *alike;
    }
    auto made = FKT_TRY(fkt::compile_call(instrument_, described.prototype, of));
    const bool suits_all = made.suits_all;
    const std::size_t index = share(std::move(made));
    if (suits_all) alike = index;
    return index;
  }

  // Returns why the function's arguments forbid it; empty: it is taken.
  std::string compile_call(const Fitting& one) {
    const Symbol& symbol = *one.symbol;
    const Described described = describe(one);
    std::string against = described.unknown;
    if (against.empty()) {
      const Result<std::size_t> through = programs_for(described, false);
      if (through) return add(symbol, *through, {});
      against = through.error().message;
    }
    if (!has_probes()) return against;
    if (!sources_.traceable.can_be_probed(symbol.name)) {
      return against + "; the kernel forbids kprobes in it";
    }
    const Result<std::size_t> probed = programs_for(described, true);
    if (probed) return add(symbol, *probed, std::move(against));
    return described.unknown.empty() ? probed.error().message : against;
  }

  // Arguments that are not known matter only if the instrument asks for them.
  std::string compile_entry(const Fitting& one) {
    const Symbol& symbol = *one.symbol;
    if (instrument_.values.empty() && !instrument_.condition) {
      return add(symbol, share({}), {});
    }
    const Described described = describe(one);
    Result<CallPrograms> programs =
        fkt::compile_entry(instrument_, described.prototype, context(described, false));
    if (!programs) {
      return described.unknown.empty() ? programs.error().message : described.unknown;
    }
    return add(symbol, share(std::move(*programs)), {});
  }

  // Takes the function. Returns an empty reason, which its callers return.
  std::string add(const Symbol& symbol, std::size_t programs, std::string by_probe) {
    plan_.taken.push_back({symbol.address, std::string(symbol.name), std::string(symbol.module),
                           programs, std::move(by_probe)});
    return {};
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
  std::unordered_map<FunctionName, unsigned, FunctionNameHash> count_;  // symbols
  std::map<std::string, std::size_t> known_;                            // programs
  // Programs that suit every function: through the call, and by a probe.
  std::array<std::optional<std::size_t>, 2> alike_;
  CallPlan plan_;
};

}  // namespace

TraceableFunctions::TraceableFunctions(std::string available_filter_functions,
                                       std::string_view blacklist)
    : text_(std::make_shared<const std::string>(std::move(available_filter_functions))) {
  for_each_line(blacklist, [this](std::string_view line, std::size_t) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string_view::npos) unprobed_.emplace(line.substr(tab + 1));
    return true;
  });
  functions_.reserve(text_->size() / 24);
  for_each_line(*text_, [this](std::string_view line, std::size_t) {
    const std::string_view name = take_until(line, ' ');
    if (line.size() > 2 && line.front() == '[') line = line.substr(1, line.size() - 2);
    functions_.push_back({name, line});
    return true;
  });
  names_ = NameIndex(static_cast<std::uint32_t>(functions_.size()), name_of());
}

bool TraceableFunctions::can_be_probed(std::string_view name) const {
  return !unprobed_.contains(std::string(name));
}

unsigned TraceableFunctions::count(std::string_view name, std::string_view module) const {
  unsigned count = 0;
  for (std::uint32_t i = names_.first(name, name_of()); i != NameIndex::kNone; i = names_.next(i)) {
    count += functions_[i].module == module;
  }
  return count;
}

Result<CallPlan> plan_calls(const Instrument& instrument, const CallPlanSources& sources) {
  return CallPlanner(instrument, sources).plan();
}

}  // namespace fkt
