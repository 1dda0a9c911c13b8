// SPDX-License-Identifier: GPL-2.0-only
// The instructions that are recorded: their form for FKT_START, and their description in the file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cli/fkt_record/instruments/numbers.h"
#include "cli/fkt_record/instruments/place_setup.h"
#include "lib/base/result.h"
#include "lib/instrument/instruction_plan.h"

namespace fkt::record {

class InstructionSetup : public PlaceSetup<fkt_called, fkt_calls> {
 public:
  // instrument: its number among all of the recording; layer: number of its bit; is_counted: its
  // hits are only counted; numbers: of the recording. Error (usage): another one has the
  // instruction.
  Status add(const InstructionPlan& plan, std::uint16_t instrument, unsigned layer, bool is_counted,
             Numbers& numbers, const std::optional<AsyncPart>& async);
  // Returns the name of the instruction at this address; empty: it is none of these.
  std::string name_of(std::uint64_t address) const {
    const auto found = names_.find(address);
    return found == names_.end() ? std::string() : found->second;
  }
  // By address.
  const std::map<std::uint64_t, std::string>& names() const { return names_; }
  // Called once, after the last add(). Error (usage): there are too many.
  Status finish();

 private:
  std::map<std::uint64_t, std::string> names_;  // by address
};

}  // namespace fkt::record
