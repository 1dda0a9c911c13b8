// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/instruction_plan.h"

#include <vector>

#include "lib/base/text.h"

namespace fkt {

Result<InstructionPlace> find_instruction(const Place& place, const FunctionIndex& functions) {
  const std::string& function = place.names.patterns.front();
  const std::vector<const Symbol*> found = functions.named(function);
  if (found.empty()) return functions.none_called(function);
  if (found.size() > 1) {
    return Error{ErrorCode::usage, std::to_string(found.size()) + " functions are called \"" +
                                       function + "\": which one is not known"};
  }
  const std::uint64_t address = found[0]->address;
  const std::uint64_t size = functions.next_symbol(address) - address;
  if (place.number >= size) {
    return Error{ErrorCode::usage, function + " has " + counted(size, "byte") + " only"};
  }
  return InstructionPlace{address + place.number, function + "+" + hex(place.number)};
}

Result<InstructionPlan> plan_instruction(const Instrument& instrument, InstructionPlace place,
                                         const InstructionPlanSources& sources) {
  Instrument whole = instrument;
  if (place.condition) {
    whole.condition = instrument.condition
                          ? Expression::both(*place.condition, *instrument.condition)
                          : *place.condition;
  }
  Result<PointProgram> program =
      compile_instruction(whole, {sources.types, sources.ticks_per_second, sources.flags});
  if (!program)
    return Error{program.error().code, instrument.text + ": " + program.error().message};
  return InstructionPlan{place.address, std::move(place.name), std::move(*program)};
}

}  // namespace fkt
