// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/place_list.h"

#include <algorithm>
#include <utility>

#include "cli/fkt_record/instruments/instrument_setup.h"
#include "cli/fkt_record/sections/symbol_reader.h"

namespace fkt::record {
namespace {

// Any rate will do: nothing is measured.
constexpr double kTicksPerSecond = 1e9;

Result<std::vector<Instrument>> parse(const std::vector<std::string>& texts) {
  std::vector<Instrument> instruments;
  for (const std::string& text : texts) {
    Result<Instrument> instrument = Instrument::parse(text);
    if (!instrument) {
      return Error{ErrorCode::usage, "--list \"" + text + "\": " + instrument.error().message};
    }
    const Status possible = check_instrument(*instrument);
    if (!possible) return possible.error();
    instruments.push_back(std::move(*instrument));
  }
  return instruments;
}

void add_names(const Numbers& numbers, std::string& text) {
  std::vector<std::string> names(numbers.names().begin(), numbers.names().end());
  std::ranges::sort(names);
  // The entries and the calls of a function have numbers of their own.
  const auto [end, last] = std::ranges::unique(names);
  names.erase(end, last);
  for (const std::string& name : names) text += name + '\n';
}

}  // namespace

Result<std::string> list_places(const std::vector<std::string>& texts, bool is_verbose) {
  const Result<std::vector<Instrument>> instruments = parse(texts);
  if (!instruments) return instruments.error();
  const Result<Device> device = Device::open();
  if (!device) return device.error();
  const Result<KernelSymbols> symbols = read_kallsyms();
  if (!symbols) return symbols.error();
  Numbering numbering;
  const Result<InstrumentSetup> setup = InstrumentSetup::make({*instruments, {}}, *device, *symbols,
                                                              kTicksPerSecond, numbering, nullptr);
  if (!setup) return setup.error();
  std::string text;
  add_names(numbering.functions, text);
  add_names(numbering.tracepoints, text);
  add_names(numbering.instructions, text);
  if (!is_verbose) return text;
  for (const InstrumentSetup::Part& part : setup->parts()) {
    for (const InstrumentSetup::Part::Reason& probed : part.by_probe) {
      text += "by " + std::string(setup->return_probe()) + ": " + probed.name + ": " +
              probed.reason + '\n';
    }
    for (const InstrumentSetup::Part::Reason& left : part.left_out) {
      text += "without " + left.name + ": " + left.reason + '\n';
    }
  }
  return text;
}

}  // namespace fkt::record
