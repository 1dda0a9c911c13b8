// SPDX-License-Identifier: GPL-2.0-only
// The instructions that are recorded: their form for FKT_START, and their description in the file.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/fkt_record/instruments/numbers.h"
#include "cli/fkt_record/instruments/place_setup.h"
#include "lib/base/result.h"
#include "lib/instrument/instruction_plan.h"

namespace fkt::record {

class InstructionSetup : public PlaceSetup<fkt_called, fkt_calls> {
 public:
  // instrument: its number among all of the recording; layer: number of its bit; numbers: of the
  // recording. Error (usage): another one has the instruction.
  Status add(const InstructionPlan& plan, std::uint16_t instrument, unsigned layer,
             Numbers& numbers, const std::optional<AsyncPart>& async);
  // Called once, after the last add(). Error (usage): there are too many.
  Status finish();
};

}  // namespace fkt::record
