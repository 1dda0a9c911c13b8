// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/instruction_setup.h"

#include <algorithm>

namespace fkt::record {

Status InstructionSetup::add(const InstructionPlan& plan, std::uint16_t instrument, unsigned layer,
                             Numbers& numbers, const std::optional<AsyncPart>& async) {
  if (std::ranges::find(instructions_, plan.address, &fkt_called::function) !=
      instructions_.end()) {
    return Error{ErrorCode::usage, "-i: two instruments are at " + plan.name};
  }
  const auto program = static_cast<std::uint16_t>(instructions_.size());
  instructions_.push_back({.function = plan.address,
                           .shortest = 0,
                           .number = numbers.add(plan.name, plan.program.fields, layer, async),
                           .program = program,
                           .instrument = instrument,
                           .how = 0,
                           .pad = 0});
  // An instruction needs only the first program of a pair.
  const ProgramBlock none;
  for (const ProgramBlock* const block : {&plan.program.block, &none}) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&block->program());
    programs_.insert(programs_.end(), bytes, bytes + block->bytes());
  }
  return Done{};
}

Status InstructionSetup::finish() {
  if (instructions_.size() > FKT_INSTRUCTIONS_MOST) {
    return Error{ErrorCode::usage, "-i: too many instructions (at most " +
                                       std::to_string(FKT_INSTRUCTIONS_MOST) + ")"};
  }
  std::ranges::sort(instructions_, {}, &fkt_called::function);
  fkt_calls& a = *arguments_;
  a.functions = reinterpret_cast<std::uintptr_t>(instructions_.data());
  a.programs = reinterpret_cast<std::uintptr_t>(programs_.data());
  a.count = static_cast<std::uint32_t>(instructions_.size());
  a.program_bytes = static_cast<std::uint32_t>(programs_.size());
  a.program_count = a.count;
  return Done{};
}

void InstructionSetup::renumber(std::span<const std::uint16_t> places) {
  for (fkt_called& called : instructions_) called.instrument = places[called.instrument];
}

std::optional<std::uint32_t> InstructionSetup::number_of(std::uint64_t address) const {
  const auto found = std::ranges::find(instructions_, address, &fkt_called::function);
  if (found == instructions_.end()) return std::nullopt;
  return found->number;
}

}  // namespace fkt::record
