// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/instrument_kinds.h"

#include <algorithm>

namespace fkt::record {

Error unsupported(const Instrument& instrument, const std::string& what) {
  return {ErrorCode::usage, "-i \"" + instrument.text + "\": " + what};
}

fkt_action action_of(const Instrument& instrument) {
  switch (instrument.action.kind) {
    case Action::Kind::record:
      return FKT_ACTION_RECORD;
    case Action::Kind::stack:
      return FKT_ACTION_STACK;
    case Action::Kind::histogram:
      return FKT_ACTION_HISTOGRAM;
    case Action::Kind::set:
      return FKT_ACTION_SET;
    case Action::Kind::clear:
      return FKT_ACTION_CLEAR;
    case Action::Kind::stop:
      return FKT_ACTION_STOP;
    case Action::Kind::start:
      return FKT_ACTION_START;
    case Action::Kind::prime:
      return FKT_ACTION_PRIME;
    case Action::Kind::snapshot:
      return FKT_ACTION_SNAPSHOT;
    case Action::Kind::handler:
      return FKT_ACTION_HANDLER;
    default:
      return FKT_ACTION_COUNT;
  }
}

bool is_on_functions(const Instrument& instrument) {
  return instrument.place.kind == Place::Kind::call ||
         instrument.place.kind == Place::Kind::function;
}
bool records_any_function(const Instrument& instrument) {
  const fkt_action action = action_of(instrument);
  const auto is_pattern = [](const std::string& name) {
    return name.find_first_of("*?") != name.npos;
  };
  return is_on_functions(instrument) &&
         (action == FKT_ACTION_RECORD || action == FKT_ACTION_STACK) &&
         std::ranges::any_of(instrument.place.names.patterns, is_pattern);
}
bool is_of_probes(const Instrument& instrument) {
  return instrument.place.kind == Place::Kind::module_probe;
}
bool is_of_user(const Place& place) {
  return place.kind == Place::Kind::user_function || place.kind == Place::Kind::user_probe;
}
// Returns whether the values only say which types those of a user program have.
static bool says_types(const Instrument& instrument) {
  return is_of_user(instrument.place) &&
         std::ranges::all_of(instrument.values,
                             [](const FetchedValue& value) { return value.bits != 0; });
}
bool needs_no_types(const Instrument& instrument) {
  return is_of_probes(instrument) || is_of_user(instrument.place);
}

std::string shown_file(const Place& place) {
  return place.group.substr(place.group.rfind('/') + 1);
}

bool is_trigger(const Instrument& instrument) {
  switch (instrument.action.kind) {
    case Action::Kind::start:
    case Action::Kind::stop:
    case Action::Kind::prime:
    case Action::Kind::set:
    case Action::Kind::clear:
    case Action::Kind::snapshot:
      return true;
    default:
      return false;
  }
}

Status check_instrument(const Instrument& instrument) {
  const Action::Kind action = instrument.action.kind;
  if (action == Action::Kind::record || action == Action::Kind::stack ||
      action == Action::Kind::handler || instrument.values.empty() || says_types(instrument)) {
    return Done{};
  }
  return unsupported(
      instrument,
      "values are only recorded with events (do record, do stack) or given to a handler");
}

}  // namespace fkt::record
