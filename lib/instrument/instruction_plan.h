// SPDX-License-Identifier: GPL-2.0-only
// Finds the address of an instrument on an instruction in the running kernel, with its program.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lib/base/result.h"
#include "lib/instrument/call_compiler.h"
#include "lib/instrument/function_index.h"

namespace fkt {

struct InstructionPlan {
  std::uint64_t address = 0;
  std::string name;  // "vfs_read+0x1c"
  PointProgram program;
};

struct InstructionPlanSources {
  const FunctionIndex& functions;  // of the running kernel and its modules
  const Btf& types;                // of the kernel
  double ticks_per_second = 1e9;
  const FlagNames& flags = FlagNames::none();  // of all instruments
};

// Returns the plan. Precondition: the instrument's place is of kind instruction. Error (usage):
// there is no such function, or several have this name; the offset is outside of it; a value is not
// known there.
Result<InstructionPlan> plan_instruction(const Instrument& instrument,
                                         const InstructionPlanSources& sources);

}  // namespace fkt
