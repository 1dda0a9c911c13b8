// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/instrument_setup.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include <fkt/events.h>

#include "cli/fkt_record/instruments/code_places.h"
#include "cli/fkt_record/instruments/instrument_kinds.h"
#include "cli/fkt_record/instruments/kernel_types.h"
#include "cli/fkt_record/instruments/module_file.h"
#include "cli/fkt_record/instruments/point_records.h"
#include "cli/fkt_record/instruments/probe_source.h"
#include "cli/fkt_record/instruments/tracefs.h"
#include "lib/base/parse.h"
#include "lib/base/read_file.h"
#include "lib/instrument/probe_plan.h"

namespace fkt::record {
namespace {

// Most functions with a return probe that an instrument may have. Setting a kretprobe takes up to
// 25 ms.
constexpr std::size_t kMostKretprobes = 100;
constexpr std::size_t kMostFprobes = FKT_RETURN_PROBES_MOST;

template <class LeftOut>
std::vector<InstrumentSetup::Part::Reason> left_out(std::vector<LeftOut> list) {
  std::vector<InstrumentSetup::Part::Reason> out;
  for (LeftOut& left : list) out.push_back({std::move(left.name), std::move(left.reason)});
  return out;
}

// Adds the flags that instruments set.
Status add_flags(FlagNames& flags, const InstrumentSetup::InstrumentRequest& asked) {
  for (const Instrument& instrument : asked.instruments) {
    const Status added = flags.add(instrument.action);
    if (!added) return unsupported(instrument, added.error().message);
  }
  for (const LayerFile& file : asked.layers) {
    for (const LayerLine& line : file.lines) {
      const Status added = flags.add(line.instrument.action);
      if (!added) return unsupported(line.instrument, added.error().message);
    }
  }
  return Done{};
}

// Returns an upper bound of thread numbers, exclusive: the present pid_max.
std::uint32_t most_threads() {
  std::uint32_t most = 0;
  const Result<std::string> text = read_file("/proc/sys/kernel/pid_max");
  if (!text || !parse_number(std::string_view(*text).substr(0, text->find('\n')), most)) {
    return FKT_TASK_FLAGS_MOST;
  }
  return std::min<std::uint32_t>(most, FKT_TASK_FLAGS_MOST);
}

}  // namespace

// Most places that a message names as lacking in the kernel.
constexpr std::size_t kMostNamed = 30;

// Reads what the running kernel has, and makes the setup of it.
class InstrumentSetup::Maker {
 public:
  Maker(const Device& device, SymbolReader& symbols, double ticks_per_second, Numbering& numbering)
      : device_(device),
        symbols_(symbols),
        ticks_per_second_(ticks_per_second),
        numbering_(numbering),
        flags_(numbering.flags) {
    numbering_.begin();
  }

  Status read_kernel(const InstrumentRequest& asked) {
    keep_ = asked.keep;
    with_self_ = asked.with_self;
    FKT_TRY(add_flags(flags_, asked));
    if (std::ranges::any_of(asked.instruments, is_of_probes)) {
      auto probes = FKT_TRY(ProbeSource::read(device_));
      probes_.emplace(std::move(probes));
    }
    if (asked.layers.empty() && std::ranges::all_of(asked.instruments, needs_no_types)) {
      return Done{};
    }
    const auto are_hidden = FKT_TRY(symbols_.are_hidden());
    if (are_hidden) {
      return Error{ErrorCode::io,
                   "-i: the kernel hides its addresses from processes without CAP_SYSLOG (sudo)"};
    }
    auto types = FKT_TRY(KernelTypes::read());
    types_.emplace(std::move(types));
    if (!asks_for_functions(asked)) return Done{};
    if (!symbols_.symbols()) return symbols_.symbols().error();
    if (has_fprobes()) made_.return_probe_ = "fprobe";
    auto available = FKT_TRY(available_functions());
    // The blacklist of kprobes does not apply to fprobes.
    const bool has_kretprobes = made_.return_probe_ != std::string_view("fprobe");
    traceable_.emplace(std::move(available), has_kretprobes ? unprobed_functions() : std::string{});
    return Done{};
  }

  // layer: number of its bit in the mask; not used for probes of modules, which have a layer in
  // their description.
  Status add(const Instrument& instrument, unsigned layer) {
    if (is_of_probes(instrument)) return add_probes(instrument);
    const auto bit = static_cast<fkt_layer>(layer);
    switch (instrument.place.kind) {
      case Place::Kind::tracepoint:
        return add_points(instrument, bit);
      case Place::Kind::instruction:
      case Place::Kind::block:
      case Place::Kind::edge:
      case Place::Kind::line:
        return add_instructions(instrument, bit);
      case Place::Kind::user_function:
      case Place::Kind::user_probe:
        return add_users(instrument, bit);
      case Place::Kind::call:
        return add_functions(instrument, CallSetup::Form::call, bit);
      default:
        return add_function_ends(instrument, bit);
    }
  }

  // Returns whether an error to add the instrument means that its module has gone, and notes it.
  bool may_be_gone(const InstrumentRequest& asked, const Instrument& instrument,
                   const Error& error) {
    if (error.code != ErrorCode::usage ||
        std::ranges::find(asked.before, instrument.text, &Instrument::text) == asked.before.end()) {
      return false;
    }
    made_.gone_.push_back({instrument.text, error.message});
    return true;
  }

  // Marks the layers of the instruments added so far as recorded from the start. Called before the
  // lists of layers are added, which -k and --also switch on.
  void switch_on() {
    for (const fkt_instrument& made : made_.instruments_) {
      made_.layers_ |= std::uint64_t{1} << made.layer;
    }
  }

  // Adds the list's instruments whose places this kernel has. Error (never usage): the kernel
  // cannot be asked.
  Status add(const LayerFile& file) {
    std::string lacking;
    std::size_t count = 0;
    for (std::size_t i = 0; i < file.lines.size();) {
      const auto lacks = FKT_TRY(add_alternatives(file, i));
      if (!lacks.empty() && count++ < kMostNamed) lacking += (lacking.empty() ? "" : ", ") + lacks;
    }
    if (count > kMostNamed) lacking += " and " + std::to_string(count - kMostNamed) + " more";
    if (count != 0) {
      made_.remarks_.push_back("layer " + file.layer + ": this kernel lacks " + lacking);
    }
    return Done{};
  }

  Result<InstrumentSetup> finish(const InstrumentSetup* before) {
    if (before != nullptr) made_.follow(*before);
    if (numbering_.functions.overflow() || numbering_.tracepoints.overflow() ||
        numbering_.instructions.overflow() || numbering_.users.overflow()) {
      return Error{ErrorCode::usage, "-i: too many different places for one recording"};
    }
    const std::size_t count = made_.parts_.size();
    if (count > FKT_INSTRUMENTS_MOST) {
      return Error{ErrorCode::usage, "-i: too many instruments (at most " +
                                         std::to_string(FKT_INSTRUMENTS_MOST) + ")"};
    }
    if (made_.has(Action::Kind::prime) && !made_.has(Action::Kind::start))
      return Error{ErrorCode::usage, "-i: \"do prime\" is for instruments that \"do start\""};
    FKT_TRY(made_.calls_.finish(most_threads(), keep_));
    FKT_TRY(made_.entries_.finish(0, std::nullopt));
    FKT_TRY(made_.instructions_.finish());
    FKT_TRY(made_.points_.finish());
    FKT_TRY(made_.users_.finish());
    fkt_instruments& a = *made_.arguments_;
    a.instruments = reinterpret_cast<std::uintptr_t>(made_.instruments_.data());
    a.count = static_cast<std::uint32_t>(count);
    a.calls = address(made_.calls_);
    a.entries = address(made_.entries_);
    a.instructions = address(made_.instructions_);
    a.points = address(made_.points_);
    a.users = address(made_.users_);
    a.threads = flags_.has_of_task() ? most_threads() : 0;
    return std::move(made_);
  }

 private:
  // Returns the address of the setup's arguments for the module; 0: there are none.
  template <class Setup>
  static std::uintptr_t address(const Setup& setup) {
    return setup.empty() ? 0 : reinterpret_cast<std::uintptr_t>(&setup.arguments());
  }

  std::uint16_t next() const { return static_cast<std::uint16_t>(made_.parts_.size()); }
  std::function<const Btf*(std::string_view)> types() {
    return [this](std::string_view module) { return types_->of(module); };
  }

  // Returns whether the kernel has the fprobes that the module can use: later ones, which are built
  // on the function graph, have no number of calls that can be in progress (FKT_HAS_FPROBE in
  // module/base/compat.h).
  bool has_fprobes() {
    const Btf& types = *types_->of({});
    const auto fprobe = types.structure("fprobe");
    return fprobe && types.member(*fprobe, "nr_maxactive") &&
           !functions().named("register_fprobe_ips").empty();
  }

  // Returns the most functions with return probes. None with --keep-children: calls seen by them
  // cannot be held.
  std::size_t most_probes() const {
    if (keep_) return 0;
    return std::string_view(made_.return_probe_) == "fprobe" ? kMostFprobes : kMostKretprobes;
  }

  // Adds entries, exits, or both: then as two instruments with common counts.
  Status add_function_ends(const Instrument& instrument, fkt_layer layer) {
    const Place::Point point = instrument.place.point;
    if (point != Place::Point::both) {
      const auto form =
          point == Place::Point::entry ? CallSetup::Form::entry : CallSetup::Form::exit;
      return add_functions(instrument, form, layer);
    }
    Instrument entry = instrument, exit = instrument;
    const auto of_result = [](const FetchedValue& value) { return value.of_result; };
    std::erase_if(entry.values, of_result);
    std::erase_if(exit.values, std::not_fn(of_result));
    entry.place.point = Place::Point::entry;
    exit.place.point = Place::Point::exit;
    FKT_TRY(add_functions(entry, CallSetup::Form::entry, layer));
    const std::size_t entries = made_.parts_.back().places;
    made_.parts_.pop_back();
    made_.instruments_.pop_back();
    FKT_TRY(add_functions(exit, CallSetup::Form::exit, layer));
    Part& part = made_.parts_.back();
    part.place = instrument.place;
    part.places = std::max(part.places, entries);
    return Done{};
  }

  static bool asks_for_functions(const InstrumentRequest& asked) {
    return std::ranges::any_of(asked.instruments, is_on_functions) ||
           std::ranges::any_of(asked.layers, [](const LayerFile& file) {
             return std::ranges::any_of(file.lines, [](const LayerLine& line) {
               return is_on_functions(line.instrument);
             });
           });
  }

  // Adds the first of the alternatives at line `i` that this kernel has, and sets `i` to the line
  // behind them. Returns the place that the kernel lacks; empty: none.
  Result<std::string> add_alternatives(const LayerFile& file, std::size_t& i) {
    const LayerLine& first = file.lines[i];
    std::vector<std::string> remarks;
    bool is_done = false;
    do {
      const LayerLine& line = file.lines[i];
      const Status added = is_done ? Done{} : add(line.instrument, file.bit);
      if (!added && added.error().code != ErrorCode::usage) return added.error();
      if (!added) tell_wrong_value(file, line, added.error().message, remarks);
      is_done |= static_cast<bool>(added);
    } while (++i < file.lines.size() && file.lines[i].is_alternative);
    // What an alternative lacks matters only if there is no other one.
    if (!is_done) std::ranges::move(remarks, std::back_inserter(made_.remarks_));
    return is_done || first.may_be_missing ? std::string() : place_text(first.instrument);
  }

  // Notes that the place exists, but not the value to be recorded.
  static void tell_wrong_value(const LayerFile& file, const LayerLine& line,
                               std::string_view message, std::vector<std::string>& remarks) {
    constexpr std::string_view kColumn = "column ";
    const std::size_t at = message.find(kColumn);
    if (at == message.npos || line.may_be_missing) return;
    remarks.push_back(file.path + ':' + std::to_string(line.number) + ':' +
                      std::string(message.substr(at + kColumn.size())));
  }

  static std::string place_text(const Instrument& instrument) {
    return instrument.text.substr(0, instrument.text.find_first_of(" \t("));
  }

  // Error (usage): the place's events do not record the values by which a begin and an end find
  // each other.
  static Status has_values(const Instrument& instrument, std::span<const RecordedField> fields,
                           const std::string& place) {
    if (!instrument.async) return Done{};
    for (const std::string& name : {instrument.async->match, instrument.async->lane}) {
      if (name.empty() || std::ranges::find(fields, name, &RecordedField::name) != fields.end()) {
        continue;
      }
      return Error{ErrorCode::usage, fmt::format("-i: column {}: {} is not among the values that "
                                                 "are recorded of {}",
                                                 instrument.async->column, name, place)};
    }
    return Done{};
  }

  Status add_functions(const Instrument& instrument, CallSetup::Form form, fkt_layer layer) {
    Result<CallPlan> plan =
        plan_calls(instrument, {functions(), *traceable_, types(), ticks_per_second_, flags_,
                                most_probes(), system_call_format});
    if (!plan) return Error{plan.error().code, "-i: " + plan.error().message};
    for (const CallPlan::Taken& taken : plan->taken) {
      FKT_TRY(has_values(instrument, plan->programs[taken.programs].fields, taken.name));
      if (keep_ && form != CallSetup::Form::entry) {
        const CallPrograms& programs = plan->programs[taken.programs];
        const bool asks_early = programs.entry.program().insns != 0;
        if (form == CallSetup::Form::exit || asks_early || !programs.fields.empty()) {
          return unsupported(instrument,
                             "--keep-children: only of whole calls without values, and without "
                             "conditions on arguments");
        }
      }
    }
    Part part = part_of(instrument);
    part.left_out = left_out(std::move(plan->left_out));
    for (const CallPlan::Taken& taken : plan->taken) {
      if (!taken.by_probe.empty()) part.by_probe.push_back({taken.name, taken.by_probe});
    }
    FKT_TRY(shape(instrument, plan->programs.front().measured, part));
    CallSetup& setup = form == CallSetup::Form::entry ? made_.entries_ : made_.calls_;
    const CallSetup::InstrumentId of{next(), layer, is_trigger(instrument)};
    const CallSetup::Added added =
        setup.add(std::move(*plan), form, of, numbering_.functions, instrument.async);
    if (added.functions == 0) {
      return unsupported(instrument, "instruments before it have all functions that fit");
    }
    part.places = added.functions;
    part.taken_before = added.taken_before;
    finish_part(instrument, std::move(part), layer);
    return Done{};
  }

  // Adds instructions. If they are counted, each has a count of its own.
  Status add_instructions(const Instrument& instrument, fkt_layer layer) {
    const bool is_counted = instrument.action.kind == Action::Kind::count;
    BlockPlaces found;
    if (instrument.place.kind == Place::Kind::instruction) {
      auto place = find_instruction(instrument.place, functions());
      if (!place) return Error{place.error().code, "-i: " + place.error().message};
      found.places.push_back(std::move(*place));
    } else {
      // Registers are those at the block's begin.
      const bool asks = instrument.condition || !instrument.values.empty();
      auto places = code_.find(instrument.place, asks         ? Splices::none
                                                 : is_counted ? Splices::counts
                                                              : Splices::events);
      if (!places) return Error{places.error().code, "-i: " + places.error().message};
      found = std::move(*places);
    }
    const bool is_split = is_counted && (instrument.place.is_every || found.places.size() > 1);
    Part part = part_of(instrument);
    part.of = "instruction";
    part.left_out = left_out(std::move(found.left_out));
    for (InstructionPlace& place : found.places) {
      const std::string name = place.name;
      FKT_TRY(add_instruction(instrument, std::move(place), layer, part));
      if (!is_split) continue;
      Part single = part;
      single.text = instrument.text + " (" + name + ')';
      finish_part(instrument, std::move(single), layer);
      part.left_out.clear();
      part.places = 0;
    }
    if (!is_split) finish_part(instrument, std::move(part), layer);
    return Done{};
  }

  // Adds a place to the instrument that will be finished next.
  Status add_instruction(const Instrument& instrument, InstructionPlace place, fkt_layer layer,
                         Part& part) {
    const Result<InstructionPlan> plan = plan_instruction(
        instrument, std::move(place), {*types_->of({}), ticks_per_second_, flags_});
    if (!plan) return Error{plan.error().code, "-i: " + plan.error().message};
    FKT_TRY(has_values(instrument, plan->program.fields, plan->name));
    FKT_TRY(made_.instructions_.add(*plan, next(), layer,
                                    instrument.action.kind == Action::Kind::count,
                                    numbering_.instructions, instrument.async));
    part.places++;
    return shape(instrument, plan->program.measured, part);
  }

  Status add_users(const Instrument& instrument, fkt_layer layer) {
    const Result<const UserFile*> file = made_.users_.file(instrument.place.group);
    if (!file) return Error{file.error().code, "-i: " + file.error().message};
    Result<UserPlan> plan = plan_user(instrument, {.file = **file,
                                                   .shown = shown_file(instrument.place),
                                                   .ticks_per_second = ticks_per_second_,
                                                   .flags = flags_,
                                                   .most = FKT_USERS_MOST});
    if (!plan) return Error{plan.error().code, "-i: " + plan.error().message};
    for (const UserPlan::Taken& taken : plan->taken) {
      FKT_TRY(has_values(instrument, plan->programs[taken.programs].fields, taken.name));
    }
    const bool sees_returns = instrument.place.point == Place::Point::call ||
                              instrument.place.point == Place::Point::exit;
    if (sees_returns && instrument.place.kind == Place::Kind::user_function &&
        (*file)->has_exceptions()) {
      made_.remarks_.push_back(instrument.text + ": " + (*file)->path() +
                               " handles C++ exceptions: one that passes through such a function "
                               "ends the program");
    }
    made_.users_.add(*plan, instrument.place, **file, next(), layer, numbering_.users,
                     instrument.async);
    Part part = part_of(instrument);
    part.of = instrument.place.kind == Place::Kind::user_probe ? "probe" : "function";
    part.places = plan->taken.size();
    part.left_out = left_out(std::move(plan->left_out));
    FKT_TRY(shape(instrument, plan->programs.front().measured, part));
    finish_part(instrument, std::move(part), layer);
    return Done{};
  }

  Status add_points(const Instrument& instrument, fkt_layer layer) {
    const std::string& system = instrument.place.group;
    const auto systems = FKT_TRY(tracefs_folders("events"));
    const Result<std::vector<std::string>> events = tracefs_folders("events/" + system);
    const std::vector<std::string> none;
    const auto record = [&](const std::string& event) { return records_.find(system, event); };
    Result<PointPlan> plan = plan_points(
        instrument, {.systems = systems,
                     .events = events ? *events : none,
                     .functions = [this]() -> const FunctionIndex& { return functions(); },
                     .types = types(),
                     .ticks_per_second = ticks_per_second_,
                     .flags = flags_,
                     .record = record,
                     .arguments_first = layer != FKT_L_INSTRUMENTS});
    if (!plan && !events && may_come(system)) return add_waiting(instrument, layer);
    if (plan) {
      for (PointPlan::Taken& taken : plan->taken) taken.layer = layer;
    }
    return add_plan(instrument, std::move(plan), "tracepoint");
  }

  // Adds an instrument on tracepoints whose module is not loaded, without places: the recorder
  // looks for them again when a module is loaded.
  Status add_waiting(const Instrument& instrument, fkt_layer layer) {
    if (instrument.action.kind == Action::Kind::histogram) {
      return unsupported(instrument, "the module " + instrument.place.group +
                                         " is not loaded, so it is not known what to measure");
    }
    made_.remarks_.push_back(instrument.text + ": waits for the module " + instrument.place.group);
    Part part = part_of(instrument);
    part.of = "tracepoint";
    finish_part(instrument, std::move(part), layer);
    return Done{};
  }

  Status add_probes(const Instrument& instrument) {
    const Result<std::vector<ModuleProbe>> probes = probes_->probes(instrument.place);
    if (!probes) return Error{probes.error().code, "-i: " + probes.error().message};
    return add_plan(instrument, plan_probes(instrument, *probes, ticks_per_second_, flags_),
                    "probe");
  }

  Status add_plan(const Instrument& instrument, Result<PointPlan> plan, const char* of) {
    if (!plan) return Error{plan.error().code, "-i: " + plan.error().message};
    // An instrument has one layer in the kernel.
    std::map<unsigned, PointPlan> by_layer;
    for (PointPlan::Taken& taken : plan->taken) {
      FKT_TRY(has_values(instrument, taken.program.fields, taken.name));
      by_layer[taken.layer].taken.push_back(std::move(taken));
    }
    by_layer.begin()->second.left_out = std::move(plan->left_out);
    by_layer.begin()->second.by_arguments = std::move(plan->by_arguments);
    for (auto& [bit, part_plan] : by_layer) {
      const auto layer = static_cast<fkt_layer>(bit);
      made_.points_.add(part_plan, next(), layer, numbering_.tracepoints, instrument.async);
      Part part = part_of(instrument);
      part.of = of;
      part.places = part_plan.taken.size();
      part.left_out = left_out(std::move(part_plan.left_out));
      part.by_arguments = left_out(std::move(part_plan.by_arguments));
      FKT_TRY(shape(instrument, part_plan.taken.front().program.measured, part));
      finish_part(instrument, std::move(part), layer);
    }
    return Done{};
  }

  static Part part_of(const Instrument& instrument) {
    Part part;
    part.text = instrument.text;
    part.action = instrument.action.kind;
    part.place = instrument.place;
    return part;
  }

  // Sets the shape of the part's histogram. measured: of the first place, whose types count for
  // all.
  Status shape(const Instrument& instrument, const std::optional<MeasuredValue>& measured,
               Part& part) const {
    if (!measured) return Done{};
    Result<HistogramShape> shape =
        HistogramShape::make(instrument.action, *measured, ticks_per_second_);
    if (!shape) return unsupported(instrument, shape.error().message);
    part.histogram.emplace(std::move(*shape));
    return Done{};
  }

  void finish_part(const Instrument& instrument, Part part, fkt_layer layer) {
    fkt_instrument& made = made_.instruments_.emplace_back();
    made.action = static_cast<__u32>(action_of(instrument));
    made.layer = layer;
    if (const std::optional<FlagNames::Flag> flag = flags_.find(instrument.action.name);
        flag && (made.action == FKT_ACTION_SET || made.action == FKT_ACTION_CLEAR)) {
      made.flag = flag->number | (flag->of_task ? FKT_FLAG_OF_TASK : 0);
    }
    if (!with_self_ && layer == FKT_L_INSTRUMENTS && records_any_function(instrument)) {
      made.flag = FKT_FLAG_NOT_SELF;
    }
    if (made.action == FKT_ACTION_HANDLER) {
      instrument.action.name.copy(made.handler, sizeof made.handler - 1);
    }
    if (part.histogram) part.histogram->describe(made);
    part.layer = layer;
    made_.parts_.push_back(std::move(part));
  }

  // Returns the kernel's functions, none if they cannot be read. Read only when they are needed,
  // because that takes longer than all other planning.
  const FunctionIndex& functions() {
    if (!functions_) {
      const Result<KernelSymbols>& symbols = symbols_.symbols();
      functions_.emplace(symbols ? std::span<const Symbol>(symbols->symbols)
                                 : std::span<const Symbol>());
    }
    return *functions_;
  }

  const Device& device_;
  SymbolReader& symbols_;
  std::optional<FunctionIndex> functions_;
  const double ticks_per_second_;
  Numbering& numbering_;
  FlagNames& flags_;                  // of all instruments
  std::optional<KeepChildren> keep_;  // InstrumentRequest.keep
  bool with_self_ = false;            // InstrumentRequest.with_self
  std::optional<KernelTypes> types_;
  std::optional<TraceableFunctions> traceable_;
  std::optional<ProbeSource> probes_;
  CodePlaces code_;
  PointRecords records_{device_};
  InstrumentSetup made_;
};

Result<InstrumentSetup> InstrumentSetup::make(const InstrumentRequest& asked, const Device& device,
                                              SymbolReader& symbols, double ticks_per_second,
                                              Numbering& numbering, const InstrumentSetup* before) {
  Maker maker(device, symbols, ticks_per_second, numbering);
  FKT_TRY(maker.read_kernel(asked));
  for (const Instrument& instrument : asked.instruments) {
    const Status done = maker.add(instrument, FKT_L_INSTRUMENTS);
    if (!done && !maker.may_be_gone(asked, instrument, done.error())) return done.error();
  }
  maker.switch_on();
  for (const LayerFile& file : asked.layers) FKT_TRY(maker.add(file));
  return maker.finish(before);
}

// Gives the instruments of `before` their old numbers, in front of the new ones. Those that are no
// longer wanted are marked as removed and have no places.
void InstrumentSetup::follow(const InstrumentSetup& before) {
  std::vector<Part> parts = before.parts_;
  std::vector<fkt_instrument> instruments = before.instruments_;
  std::vector<std::uint16_t> places;
  for (Part& part : parts) {
    part.is_removed = true;
    part.places = 0;
  }
  for (std::size_t i = 0; i < parts_.size(); i++) {
    std::size_t at = 0;
    while (at < parts.size() &&
           !(parts[at].is_removed && parts[at].text == parts_[i].text &&
             std::memcmp(&instruments[at], &instruments_[i], sizeof instruments[at]) == 0)) {
      at++;
    }
    if (at == parts.size()) {
      parts.emplace_back();
      instruments.push_back(instruments_[i]);
    }
    parts[at] = std::move(parts_[i]);
    places.push_back(static_cast<std::uint16_t>(at));
  }
  calls_.renumber(places);
  entries_.renumber(places);
  instructions_.renumber(places);
  points_.renumber(places);
  users_.renumber(places);
  parts_ = std::move(parts);
  instruments_ = std::move(instruments);
  for (Part& part : parts_) {
    if (std::ranges::find(gone_, part.text, &Part::Reason::name) != gone_.end()) {
      part.is_removed = false;
    }
  }
}

bool InstrumentSetup::has(Action::Kind action) const {
  return std::ranges::any_of(
      parts_, [&](const Part& part) { return part.action == action && !part.is_removed; });
}

std::string InstrumentSetup::name_of(std::uint64_t address, const Numbering& numbering) const {
  std::optional<std::uint32_t> number = calls_.number_of(address);
  if (number) return numbering.functions.name(*number);
  if (std::string name = instructions_.name_of(address); !name.empty()) return name;
  number = users_.number_of(address);
  return number ? numbering.users.name(*number) : std::string();
}

}  // namespace fkt::record
