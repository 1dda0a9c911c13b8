// SPDX-License-Identifier: GPL-2.0-only
// The functions of a recording whose calls are recorded: what FKT_START is given, and what the file
// says of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "cli/fkt_record/instruments/value_lines.h"
#include "lib/base/result.h"
#include "lib/instrument/call_plan.h"

namespace fkt::record {

class CallSetup {
 public:
  struct Added {
    std::size_t functions = 0;
    std::size_t taken_before = 0;  // that earlier instruments have
  };

  // Adds the functions that no earlier instrument has. instrument: its number among all of the
  // recording.
  Added add(CallPlan plan, std::uint16_t instrument, fkt_layer layer);
  // Called once, after the last add(). Error (usage): there are too many functions.
  Status finish();

  bool empty() const { return functions_.empty(); }
  // For FKT_START; valid as long as this object.
  const fkt_calls& arguments() const { return *arguments_; }
  // Lines for the file's catalogue: the names of the functions' numbers, the values that are
  // recorded of their calls, and their layers.
  std::string catalogue_lines() const;

 private:
  std::vector<std::string> names_;  // of the functions, by number
  ValueLines values_{"function"};
  LayerLines layers_{"function"};
  std::vector<fkt_called> functions_;
  std::unordered_set<std::uint64_t> known_;  // their addresses
  std::vector<std::byte> programs_;  // its memory stays where it is when this object is moved
  std::uint32_t program_count_ = 0;
  std::uint64_t shortest_ = ~std::uint64_t{0};
  std::unique_ptr<fkt_calls> arguments_ = std::make_unique<fkt_calls>();
};

}  // namespace fkt::record
