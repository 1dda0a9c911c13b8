// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/instruction_setup.h"

#include <algorithm>

namespace fkt::record {

Status InstructionSetup::add(const InstructionPlan& plan, std::uint16_t instrument, unsigned layer,
                             bool is_counted, Numbers& numbers,
                             const std::optional<AsyncPart>& async) {
  if (!names_.emplace(plan.address, plan.name).second) {
    return Error{ErrorCode::usage, "-i: two instruments are at " + plan.name};
  }
  const auto program = static_cast<std::uint16_t>(places_.size());
  places_.push_back(
      {.function = plan.address,
       .shortest = 0,
       // No event has the number of what is only counted.
       .number = is_counted ? 0 : numbers.add(plan.name, plan.program.fields, layer, async),
       .program = program,
       .instrument = instrument,
       .how = 0,
       .pad = 0});
  // An instruction needs only the first program of a pair.
  add_program(plan.program.block);
  add_program({});
  return Done{};
}

Status InstructionSetup::finish() {
  if (places_.size() > FKT_INSTRUCTIONS_MOST) {
    return too_many("instructions", FKT_INSTRUCTIONS_MOST);
  }
  std::ranges::sort(places_, {}, &fkt_called::function);
  fkt_calls& a = set_arguments(&fkt_calls::functions);
  a.program_count = a.count;
  return Done{};
}

}  // namespace fkt::record
