// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/point_plan.h"

#include <algorithm>
#include <map>
#include <optional>

#include "lib/base/suggest.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

// The kernel's function that calls a tracepoint's probes; it has the tracepoint's arguments behind
// one of its own.
constexpr std::string_view kCaller = "__traceiter_";

constexpr const char* kNoRoom = "an event has no room for all fields (name those that you need)";

class PointPlanner {
 public:
  PointPlanner(const Instrument& instrument, const PointPlanSources& sources)
      : instrument_(instrument), sources_(sources) {}

  Result<PointPlan> plan() {
    std::vector<std::string> fitting;
    for (const std::string& event : sources_.events) {
      if (instrument_.place.names.has(event)) fitting.push_back(event);
    }
    if (fitting.empty()) return nothing_fits();
    std::ranges::sort(fitting);
    for (const std::string& name : fitting) {
      const std::string reason = take(name);
      if (!reason.empty()) plan_.left_out.push_back({name, reason});
    }
    if (!plan_.taken.empty()) return std::move(plan_);
    const PointPlan::LeftOut& first = plan_.left_out.front();
    return Error{ErrorCode::usage,
                 "\"" + instrument_.text + "\": " + first.name + ": " + first.reason};
  }

 private:
  Error nothing_fits() const {
    const Place& place = instrument_.place;
    const std::string in = "\"" + instrument_.text + "\": ";
    if (std::ranges::find(sources_.systems, place.group) == sources_.systems.end()) {
      const std::vector<std::string> known(sources_.systems.begin(), sources_.systems.end());
      return {ErrorCode::usage, in + "this kernel has no tracepoints of \"" + place.group + "\"" +
                                    did_you_mean(place.group, known)};
    }
    const std::vector<std::string> known(sources_.events.begin(), sources_.events.end());
    return {ErrorCode::usage, in + place.group + " has no tracepoint that fits" +
                                  did_you_mean(place.names.patterns.front(), known)};
  }

  // Returns why the tracepoint cannot be recorded; empty: it is taken.
  std::string take(const std::string& name) {
    const std::string caller = std::string(kCaller) + name;
    const Btf* btf = sources_.types({});
    Result<Prototype> prototype = btf != nullptr ? btf->prototype(caller) : Error{};
    if (!prototype) {
      const std::vector<const Symbol*> callers = sources_.functions().named(caller);
      if (callers.empty()) return "the kernel makes this event of others";
      const std::string_view module = callers.front()->module;
      btf = sources_.types(module);
      if (btf == nullptr) {
        return "the types of module " + std::string(module) + " are not described";
      }
      prototype = btf->prototype(caller);
    }
    if (!prototype) return prototype.error().message;
    if (prototype->arguments.empty()) return "its arguments are not described";
    prototype->arguments.erase(prototype->arguments.begin());
    prototype->function = name;
    return sources_.arguments_first ? by_arguments_first(name, *prototype, *btf)
                                    : by_record_first(name, *prototype, *btf);
  }

  std::string by_record_first(const std::string& name, const Prototype& prototype, const Btf& btf) {
    const Result<PointRecord> record = record_of(name);
    if (record) return compile(prototype, btf, &*record);
    const std::string reason = compile(prototype, btf, nullptr);
    if (!sources_.record) return reason;
    if (!reason.empty()) return reason + "; its own fields: " + record.error().message;
    plan_.by_arguments.push_back({name, record.error().message});
    return {};
  }

  std::string by_arguments_first(const std::string& name, const Prototype& prototype,
                                 const Btf& btf) {
    const std::string reason = compile(prototype, btf, nullptr);
    if (reason.empty()) return reason;
    const Result<PointRecord> record = record_of(name);
    return !record || !compile(prototype, btf, &*record).empty() ? reason : std::string();
  }

  Result<PointRecord> record_of(const std::string& name) const {
    return sources_.record ? sources_.record(name) : Error{ErrorCode::absent, "not asked for"};
  }

  // Returns why the tracepoint cannot be recorded; empty: it is taken. record: nullptr: none.
  std::string compile(const Prototype& prototype, const Btf& btf, const PointRecord* record) {
    std::vector<std::string> without;  // fields
    const Instrument with_values = record != nullptr ? with_fields(record->layout, without)
                                                     : with_default_values(prototype, btf);
    Result<PointProgram> program = compile_point(
        with_values, prototype, {btf, sources_.ticks_per_second, sources_.flags}, record);
    if (!program) return program.error().message;
    for (const std::string& field : without) {
      plan_.left_out.push_back({prototype.function + '.' + field, kNoRoom});
    }
    const bool uses_record = program->uses_record;
    plan_.taken.push_back({.name = prototype.function,
                           .arguments = prototype.arguments.size(),
                           .program = std::move(*program),
                           .module = {},
                           .description = {},
                           .record_bytes = uses_record ? record->bytes : 0});
    return {};
  }

  // All fields, as far as there is room: the others are added to `without`.
  Instrument with_fields(const EventLayout& layout, std::vector<std::string>& without) const {
    Instrument instrument = instrument_;
    if (!instrument.values.empty() || !instrument.action.records()) return instrument;
    std::uint32_t words = 0;
    for (const EventField& field : layout.fields) {
      if (field.form == EventField::Form::other) continue;
      const bool is_list = field.form == EventField::Form::array && field.element > 1;
      const std::uint32_t elements = is_list ? field.size / field.element : 1;
      for (std::uint32_t i = 0; i < elements; i++) {
        // A text takes 4 words, an array of bytes 8 at most.
        const std::uint32_t needed = is_list || field.form == EventField::Form::number ? 1 : 8;
        if (words + needed > FKT_PROGRAM_WORDS) {
          without.push_back(field.name);
          break;
        }
        words += needed;
        FetchedValue value;
        value.path.root = field.name;
        if (is_list) value.path.steps.push_back({{}, {}, i, 0});
        instrument.values.push_back(std::move(value));
      }
    }
    return instrument;
  }

  Instrument with_default_values(const Prototype& prototype, const Btf& btf) const {
    Instrument instrument = instrument_;
    if (!instrument.values.empty() || !instrument.action.records()) return instrument;
    for (std::size_t i = 0; i < prototype.arguments.size(); i++) {
      const Prototype::Argument& argument = prototype.arguments[i];
      const TypeKind kind = btf.type(argument.type).kind;
      const bool is_number = kind == TypeKind::integer || kind == TypeKind::enumeration;
      if (!is_number && !btf.is_text(argument.type)) continue;
      FetchedValue value;
      value.path.root = argument.name.empty() ? "arg" + std::to_string(i + 1) : argument.name;
      instrument.values.push_back(std::move(value));
    }
    return instrument;
  }

  const Instrument& instrument_;
  const PointPlanSources& sources_;
  PointPlan plan_;
};

}  // namespace

Result<PointPlan> plan_points(const Instrument& instrument, const PointPlanSources& sources) {
  return PointPlanner(instrument, sources).plan();
}

}  // namespace fkt
