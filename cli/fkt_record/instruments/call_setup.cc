// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/call_setup.h"

#include <algorithm>

namespace fkt::record {

CallSetup::Added CallSetup::add(CallPlan plan, std::uint16_t instrument, fkt_layer layer) {
  const std::uint32_t first_program = program_count_;
  for (const CallPrograms& programs : plan.programs) {
    for (const ProgramBlock* const block : {&programs.entry, &programs.exit}) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(&block->program());
      programs_.insert(programs_.end(), bytes, bytes + block->bytes());
    }
    program_count_++;
  }
  // Functions with the same values get numbers that follow each other: one line of the catalogue
  // describes them.
  std::ranges::stable_sort(plan.taken, {}, &CallPlan::Taken::programs);
  Added added;
  for (CallPlan::Taken& taken : plan.taken) {
    if (!known_.insert(taken.address).second) {
      added.taken_before++;
      continue;
    }
    const auto number = static_cast<std::uint32_t>(names_.size());
    functions_.push_back({.function = taken.address,
                          .number = number,
                          .program = static_cast<std::uint16_t>(first_program + taken.programs),
                          .instrument = instrument});
    names_.push_back(std::move(taken.name));
    values_.add(number, plan.programs[taken.programs].fields);
    layers_.add(number, layer);
    added.functions++;
  }
  if (added.functions > 0) shortest_ = std::min(shortest_, plan.shortest);
  return added;
}

Status CallSetup::finish() {
  if (functions_.size() > FKT_CALLS_MOST || program_count_ > UINT16_MAX ||
      programs_.size() > FKT_CALLS_PROGRAM_BYTES) {
    return Error{ErrorCode::usage, "-i: too many functions (at most " +
                                       std::to_string(FKT_CALLS_MOST) +
                                       "), or too many different kinds of values"};
  }
  std::ranges::sort(functions_, {}, [](const fkt_called& called) { return called.function; });
  fkt_calls& a = *arguments_;
  a.functions = reinterpret_cast<std::uintptr_t>(functions_.data());
  a.programs = reinterpret_cast<std::uintptr_t>(programs_.data());
  a.shortest = shortest_;
  a.count = static_cast<std::uint32_t>(functions_.size());
  a.program_bytes = static_cast<std::uint32_t>(programs_.size());
  a.program_count = program_count_;
  return Done{};
}

std::string CallSetup::catalogue_lines() const {
  std::string lines;
  for (std::size_t number = 0; number < names_.size(); number++) {
    lines += "name\tfunction\t" + std::to_string(number) + '\t' + names_[number] + '\n';
  }
  return lines + values_.text() + layers_.text();
}

}  // namespace fkt::record
