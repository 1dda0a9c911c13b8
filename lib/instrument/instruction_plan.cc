// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/instruction_plan.h"

#include <vector>

#include "lib/base/text.h"

namespace fkt {
Result<InstructionPlan> plan_instruction(const Instrument& instrument,
                                         const InstructionPlanSources& sources) {
  const std::string& function = instrument.place.names.patterns.front();
  const std::vector<const Symbol*> found = sources.functions.named(function);
  if (found.empty()) return sources.functions.none_called(function);
  if (found.size() > 1) {
    return Error{ErrorCode::usage, std::to_string(found.size()) + " functions are called \"" +
                                       function + "\": which one is not known"};
  }
  const std::uint64_t address = found[0]->address;
  const std::uint64_t size = sources.functions.next_symbol(address) - address;
  if (instrument.place.number >= size) {
    return Error{ErrorCode::usage, function + " has " + counted(size, "byte") + " only"};
  }
  Result<PointProgram> program =
      compile_instruction(instrument, {sources.types, sources.ticks_per_second, sources.flags});
  if (!program)
    return Error{program.error().code, instrument.text + ": " + program.error().message};
  return InstructionPlan{address + instrument.place.number,
                         function + "+" + hex(instrument.place.number), std::move(*program)};
}

}  // namespace fkt
