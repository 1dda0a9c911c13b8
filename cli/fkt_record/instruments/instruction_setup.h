// SPDX-License-Identifier: GPL-2.0-only
// The instructions that are recorded: their form for FKT_START, and their description in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <fkt/ioctl.h>

#include "cli/fkt_record/instruments/numbers.h"
#include "lib/base/result.h"
#include "lib/instrument/instruction_plan.h"

namespace fkt::record {

class InstructionSetup {
 public:
  // instrument: its number among all of the recording; layer: number of its bit; numbers: of the
  // recording. Error (usage): another one has the instruction.
  Status add(const InstructionPlan& plan, std::uint16_t instrument, unsigned layer,
             Numbers& numbers, const std::optional<AsyncPart>& async);
  // Called once, after the last add(). Error (usage): there are too many.
  Status finish();
  // Gives the instruments the numbers of the recording: places[n] is that of the n-th one here.
  void renumber(std::span<const std::uint16_t> places);

  bool empty() const { return instructions_.empty(); }
  // For FKT_START; valid as long as this object.
  const fkt_calls& arguments() const { return *arguments_; }
  // Returns the number of the instruction at this address; nothing: it is none of these.
  std::optional<std::uint32_t> number_of(std::uint64_t address) const;

 private:
  std::vector<fkt_called> instructions_;
  std::vector<std::byte> programs_;  // its memory stays where it is when this object is moved
  std::unique_ptr<fkt_calls> arguments_ = std::make_unique<fkt_calls>();
};

}  // namespace fkt::record
