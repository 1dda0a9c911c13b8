// SPDX-License-Identifier: GPL-2.0-only
// The instructions of a recording that are recorded: what FKT_START is given, and what the file
// says of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fkt/ioctl.h>

#include "cli/fkt_record/instruments/value_lines.h"
#include "lib/base/result.h"
#include "lib/instrument/instruction_plan.h"

namespace fkt::record {

class InstructionSetup {
 public:
  // instrument: its number among all of the recording; layer: number of its bit. Error (usage):
  // another one has the instruction.
  Status add(const InstructionPlan& plan, std::uint16_t instrument, unsigned layer);
  // Called once, after the last add(). Error (usage): there are too many.
  Status finish();

  bool empty() const { return instructions_.empty(); }
  // For FKT_START; valid as long as this object.
  const fkt_calls& arguments() const { return *arguments_; }
  // Lines for the file's catalogue.
  std::string catalogue_lines() const;
  // The instruction at this address; empty: it is none of these.
  std::string name_of(std::uint64_t address) const;

 private:
  std::vector<fkt_called> instructions_;
  std::vector<std::byte> programs_;  // its memory stays where it is when this object is moved
  std::vector<std::string> names_;   // by number
  ValueLines values_{"instruction"};
  LayerLines layers_{"instruction"};
  std::unique_ptr<fkt_calls> arguments_ = std::make_unique<fkt_calls>();
};

}  // namespace fkt::record
