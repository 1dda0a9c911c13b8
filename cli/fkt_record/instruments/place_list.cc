// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/place_list.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "cli/fkt_record/instruments/instrument_kinds.h"
#include "cli/fkt_record/instruments/instrument_setup.h"
#include "cli/fkt_record/instruments/kernel_types.h"
#include "cli/fkt_record/instruments/point_records.h"
#include "cli/fkt_record/instruments/probe_source.h"
#include "cli/fkt_record/instruments/tracefs.h"
#include "cli/fkt_record/sections/symbol_reader.h"
#include "lib/base/each_once.h"
#include "lib/instrument/place_fields.h"
#include "lib/instrument/system_call.h"

namespace fkt::record {
namespace {

// Any rate is right, because nothing is measured.
constexpr double kTicksPerSecond = 1e9;

constexpr std::string_view kCaller = "__traceiter_";  // calls the probes of a tracepoint

// Completes user:FILE and usdt:FILE, which mean all places of the file, with the pattern *.
std::string with_names(const std::string& text) {
  const bool is_user = text.starts_with("user:") || text.starts_with("usdt:");
  return is_user && std::ranges::count(text, ':') == 1 ? text + ":*" : text;
}

Result<Instrument> parse_listed(const std::string& text) {
  Result<Instrument> instrument = Instrument::parse(with_names(text));
  if (!instrument) {
    return Error{ErrorCode::usage, "--list \"" + text + "\": " + instrument.error().message};
  }
  FKT_TRY(check_instrument(*instrument));
  return instrument;
}

class PlaceList {
 public:
  explicit PlaceList(const Device& device) : device_(device), records_(device) {}

  // Appends the lines of an instrument's places.
  Status add(const Instrument& instrument, bool is_verbose, std::string& text) {
    Numbering numbering;
    const auto setup = FKT_TRY(InstrumentSetup::make({{&instrument, 1}, {}}, device_, symbols_,
                                                     kTicksPerSecond, numbering, nullptr));
    std::vector<std::string> names;
    for (const Numbers* numbers :
         {&numbering.functions, &numbering.tracepoints, &numbering.users}) {
      names.insert(names.end(), numbers->names().begin(), numbers->names().end());
    }
    for (const auto& [address, name] : setup.instructions().names()) names.push_back(name);
    sort_each_once(names, std::identity{});
    const auto probes = FKT_TRY(probes_of(instrument.place));
    auto user_probes = FKT_TRY(user_probes_of(instrument.place));
    user_probes.insert(probes.begin(), probes.end());
    for (const std::string& name : names) {
      const auto probe = user_probes.find(name);
      text += typed(instrument.place, name) +
              (probe != user_probes.end() ? probe->second : fields(instrument.place, name)) + '\n';
    }
    if (is_verbose) add_ways(instrument, setup, text);
    return Done{};
  }

 private:
  const Btf* types(std::string_view module) {
    if (!types_) {
      Result<KernelTypes> read = KernelTypes::read();
      if (!read) return nullptr;
      types_.emplace(std::move(*read));
    }
    return types_->of(module);
  }

  // Returns the fields of the modules' probes that the place may mean, by the names of the probes.
  Result<std::map<std::string, std::string>> probes_of(const Place& place) const {
    std::map<std::string, std::string> fields;
    if (place.kind != Place::Kind::module_probe) return fields;
    const auto source = FKT_TRY(ProbeSource::read(device_));
    const auto probes = FKT_TRY(source.probes(place));
    for (const ModuleProbe& probe : probes) {
      fields.emplace(probe.module + ':' + probe.name, fields_text(probe));
    }
    return fields;
  }

  // Returns the arguments of the program's probes, by their names; of a probe with several places,
  // those of the first one.
  static Result<std::map<std::string, std::string>> user_probes_of(const Place& place) {
    std::map<std::string, std::string> fields;
    if (place.kind != Place::Kind::user_probe) return fields;
    const auto path = FKT_TRY(find_user_file(place.group, UserPaths::of_system()));
    const auto file = FKT_TRY(UserFile::open(path));
    for (const UserProbe& probe : file.probes()) {
      fields.emplace(shown_file(place) + ':' + probe.name,
                     " of " + probe.provider + '(' + probe_arguments(probe) + ')');
    }
    return fields;
  }

  static std::string probe_arguments(const UserProbe& probe) {
    std::string text;
    for (std::size_t i = 0; i < probe.arguments.size(); i++) {
      const UserArgument& argument = probe.arguments[i];
      if (i > 0) text += ", ";
      text += "arg" + std::to_string(i + 1) + ':';
      if (argument.is_known) {
        text += (argument.is_signed ? 's' : 'u') + std::to_string(argument.bits);
      } else {
        text += '?';
      }
    }
    return text;
  }

  // Returns the name as it is written in an instrument's place.
  static std::string typed(const Place& place, const std::string& name) {
    if (!is_of_user(place)) return name;
    const std::size_t file = shown_file(place).size() + 1;
    return name.substr(0, file) + typed_name(std::string_view(name).substr(file));
  }

  // Returns the fields or arguments of the place; empty: they are not known.
  std::string fields(const Place& place, const std::string& name) {
    if (place.is_in_code() || is_of_user(place)) return {};
    if (place.kind != Place::Kind::tracepoint) {
      return arguments(name.substr(0, name.find(':')), 0, place.is_system_call);
    }
    const Result<PointRecord> record = records_.find(place.group, name);
    return record ? fields_text(record->layout) : arguments(std::string(kCaller) + name, 1, false);
  }

  // Returns the arguments of a function, without its first `without` ones.
  std::string arguments(const std::string& function, std::ptrdiff_t without, bool is_system_call) {
    if (modules_.empty() && symbols_.symbols()) {
      for (const Symbol& symbol : symbols_.symbols()->symbols) {
        modules_.emplace(symbol.name, symbol.module);
      }
    }
    const auto module = modules_.find(function);
    const Btf* const btf = module == modules_.end() ? nullptr : types(module->second);
    if (btf == nullptr) return {};
    Result<Prototype> prototype = btf->prototype(function);
    if (!prototype || prototype->arguments.size() < static_cast<std::size_t>(without)) return {};
    prototype->arguments.erase(prototype->arguments.begin(),
                               prototype->arguments.begin() + without);
    if (without > 0) prototype->result = 0;
    if (is_system_call) {
      const std::string call = function.substr(kSystemCallPrefix.size());
      add_call_arguments(*prototype, system_call_format(call), *btf);
    }
    return arguments_text(*prototype, *btf);
  }

  // Appends how the hits of each place are seen, and why not in a faster way.
  static void add_ways(const Instrument& instrument, const InstrumentSetup& setup,
                       std::string& text) {
    for (const InstrumentSetup::Part& part : setup.parts()) {
      const bool is_called = instrument.place.kind == Place::Kind::call ||
                             (instrument.place.kind == Place::Kind::function &&
                              instrument.place.point != Place::Point::entry);
      if (is_called) {
        text += "called through: " + std::to_string(part.places - part.by_probe.size()) + " of " +
                std::to_string(part.places) + '\n';
      }
      for (const auto& [name, reason] : part.by_probe) {
        text += "by " + std::string(setup.return_probe()) + ": " + name + ": " + reason + '\n';
      }
      for (const auto& [name, reason] : part.by_arguments) {
        text += "arguments, not fields: " + name + ": " + reason + '\n';
      }
      for (const auto& [name, reason] : part.left_out) {
        text += "without " + name + ": " + reason + '\n';
      }
    }
  }

  const Device& device_;
  SymbolReader symbols_;
  PointRecords records_;
  std::optional<KernelTypes> types_;
  std::map<std::string_view, std::string_view> modules_;  // of functions; the first of a name
};

}  // namespace

Result<std::string> list_places(const std::vector<std::string>& texts, bool is_verbose) {
  std::vector<Instrument> instruments;
  for (const std::string& text : texts) {
    auto instrument = FKT_TRY(parse_listed(text));
    instruments.push_back(std::move(instrument));
  }
  const auto device = FKT_TRY(Device::open());
  PlaceList list(device);
  std::string text;
  for (const Instrument& instrument : instruments) {
    FKT_TRY(list.add(instrument, is_verbose, text));
  }
  return text;
}

}  // namespace fkt::record
