// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/numbers.h"

#include <utility>

namespace fkt::record {

void Numbers::begin() {
  for (auto& [place, equals] : known_) equals.used = 0;
}

std::uint32_t Numbers::add(const std::string& name, std::span<const RecordedField> fields,
                           unsigned layer, const std::optional<AsyncPart>& async) {
  std::string place = name + '\t' + std::to_string(layer) + '\t' + value_fields(fields, name);
  if (async) place += async_columns(*async);
  Equals& equals = known_[place];
  if (equals.used == equals.numbers.size()) {
    const auto number = static_cast<std::uint32_t>(names_.size());
    equals.numbers.push_back(number);
    names_.push_back(name);
    values_.add(number, name, fields);
    layers_.add(number, layer);
    if (async) asyncs_.add(number, *async);
  }
  return equals.numbers[equals.used++];
}

std::string Numbers::take_lines() {
  std::string lines;
  for (; told_ < names_.size(); told_++) {
    lines += "name\t" + table_ + '\t' + std::to_string(told_) + '\t' + names_[told_] + '\n';
  }
  return lines + std::exchange(values_, ValueLines(table_)).text() +
         std::exchange(layers_, LayerLines(table_)).text() +
         std::exchange(asyncs_, AsyncLines(table_)).text();
}

void Numbering::begin() {
  functions.begin();
  tracepoints.begin();
  instructions.begin();
  users.begin();
}

std::string Numbering::take_lines() {
  return functions.take_lines() + instructions.take_lines() + tracepoints.take_lines() +
         users.take_lines();
}

}  // namespace fkt::record
