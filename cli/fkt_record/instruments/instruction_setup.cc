// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/instruction_setup.h"

#include <algorithm>

namespace fkt::record {

Status InstructionSetup::add(const InstructionPlan& plan, std::uint16_t instrument,
                             unsigned layer) {
  if (std::ranges::find(instructions_, plan.address, &fkt_called::function) !=
      instructions_.end()) {
    return Error{ErrorCode::usage, "-i: two instruments are at " + plan.name};
  }
  const auto number = static_cast<std::uint32_t>(instructions_.size());
  instructions_.push_back({.function = plan.address,
                           .number = number,
                           .program = static_cast<std::uint16_t>(number),
                           .instrument = instrument,
                           .how = 0,
                           .pad = 0});
  // Everything is done by the first program of a pair.
  const ProgramBlock none;
  for (const ProgramBlock* const block : {&plan.program.block, &none}) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&block->program());
    programs_.insert(programs_.end(), bytes, bytes + block->bytes());
  }
  names_.push_back(plan.name);
  values_.add(number, plan.program.fields);
  layers_.add(number, layer);
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

std::string InstructionSetup::catalogue_lines() const {
  std::string lines;
  for (std::size_t number = 0; number < names_.size(); number++) {
    lines += "name\tinstruction\t" + std::to_string(number) + '\t' + names_[number] + '\n';
  }
  return lines + values_.text() + layers_.text();
}

std::string InstructionSetup::name_of(std::uint64_t address) const {
  const auto found = std::ranges::find(instructions_, address, &fkt_called::function);
  return found == instructions_.end() ? std::string() : names_[found->number];
}

}  // namespace fkt::record
