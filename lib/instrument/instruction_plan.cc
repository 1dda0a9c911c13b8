// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/instruction_plan.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "lib/base/suggest.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

bool is_code(const Symbol& symbol) {
  return symbol.type == 't' || symbol.type == 'T' || symbol.type == 'w' || symbol.type == 'W';
}

// The addresses of the functions that are called so.
std::vector<std::uint64_t> functions(std::span<const Symbol> symbols, const std::string& name) {
  std::vector<std::uint64_t> found;
  for (const Symbol& symbol : symbols) {
    if (is_code(symbol) && symbol.name == name) found.push_back(symbol.address);
  }
  return found;
}

// The bytes from the function's begin to whatever the kernel has next.
std::uint64_t size_of(std::span<const Symbol> symbols, std::uint64_t function) {
  std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
  for (const Symbol& symbol : symbols) {
    if (symbol.address > function) next = std::min(next, symbol.address);
  }
  return next - function;
}

Error no_function(std::span<const Symbol> symbols, const std::string& name) {
  std::vector<std::string> names;
  for (const Symbol& symbol : symbols) {
    if (is_code(symbol)) names.emplace_back(symbol.name);
  }
  return {ErrorCode::usage, "no function is called \"" + name + "\"" + did_you_mean(name, names)};
}

}  // namespace

Result<InstructionPlan> plan_instruction(const Instrument& instrument,
                                         const InstructionPlanSources& sources) {
  const std::string& function = instrument.place.names.patterns.front();
  const std::vector<std::uint64_t> found = functions(sources.symbols, function);
  if (found.empty()) return no_function(sources.symbols, function);
  if (found.size() > 1) {
    return Error{ErrorCode::usage, std::to_string(found.size()) + " functions are called \"" +
                                       function + "\": which one is not known"};
  }
  const std::uint64_t size = size_of(sources.symbols, found[0]);
  if (instrument.place.number >= size) {
    return Error{ErrorCode::usage, function + " has " + counted(size, "byte") + " only"};
  }
  Result<PointProgram> program =
      compile_instruction(instrument, {sources.types, sources.ticks_per_second, sources.flags});
  if (!program)
    return Error{program.error().code, instrument.text + ": " + program.error().message};
  return InstructionPlan{found[0] + instrument.place.number,
                         function + "+" + hex(instrument.place.number), std::move(*program)};
}

}  // namespace fkt
