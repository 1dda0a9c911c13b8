// SPDX-License-Identifier: GPL-2.0-only
// The numbers that functions have in the events of a recording, and what the file says of them. A
// function has a number for each instrument that records it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/fkt_record/instruments/value_lines.h"

namespace fkt::record {

class FunctionNumbers {
 public:
  // Returns the new number. fields: what is recorded with its events; layer: number of its bit.
  std::uint32_t add(std::string name, std::span<const RecordedField> fields, unsigned layer);
  const std::string& name(std::uint32_t number) const { return names_[number]; }
  // Lines for the file's catalogue: the names of the numbers, the values, and the layers.
  std::string catalogue_lines() const;

 private:
  std::vector<std::string> names_;  // by number
  ValueLines values_{"function"};
  LayerLines layers_{"function"};
};

}  // namespace fkt::record
