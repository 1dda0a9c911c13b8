// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/function_numbers.h"

#include <utility>

namespace fkt::record {

std::uint32_t FunctionNumbers::add(std::string name, std::span<const RecordedField> fields,
                                   unsigned layer) {
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.push_back(std::move(name));
  values_.add(number, fields);
  layers_.add(number, layer);
  return number;
}

std::string FunctionNumbers::catalogue_lines() const {
  std::string lines;
  for (std::size_t number = 0; number < names_.size(); number++) {
    lines += "name\tfunction\t" + std::to_string(number) + '\t' + names_[number] + '\n';
  }
  return lines + values_.text() + layers_.text();
}

}  // namespace fkt::record
