// SPDX-License-Identifier: GPL-2.0-only
// Instruments on instructions of the running kernel: addresses and programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/base/result.h"
#include "lib/instrument/call_compiler.h"
#include "lib/instrument/function_index.h"

namespace fkt {

// An instruction of the running kernel.
struct InstructionPlace {
  std::uint64_t address = 0;
  std::string name;  // "vfs_read+0x1c"
  // What must be true besides the instrument's own condition; nothing: no more.
  std::optional<Expression> condition{};
};

// Returns the place of kind instruction. Error (usage): there is no such function, or several have
// this name; the offset is outside of it.
Result<InstructionPlace> find_instruction(const Place& place, const FunctionIndex& functions);

struct InstructionPlan {
  std::uint64_t address = 0;
  std::string name;
  PointProgram program;
};

struct InstructionPlanSources {
  const Btf& types;  // of the kernel
  double ticks_per_second = 1e9;
  const FlagNames& flags = FlagNames::none();  // of all instruments
};

// Returns the plan. Error (usage): a value is not known there.
Result<InstructionPlan> plan_instruction(const Instrument& instrument, InstructionPlace place,
                                         const InstructionPlanSources& sources);

}  // namespace fkt
