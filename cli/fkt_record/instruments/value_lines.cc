// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/value_lines.h"

#include <set>
#include <utility>

namespace fkt::record {
namespace {

// The type of the field in the catalogue, and how many bits it has.
std::pair<std::string_view, unsigned> type_of(const RecordedField& field) {
  if (!field.shown_as.empty()) return {field.shown_as, field.bits};
  switch (field.kind) {
    case RecordedField::Kind::text:
      return {"str", field.size != 0 ? 8 * field.size : 64u * field.words};
    case RecordedField::Kind::address:
      return {"addr", field.bits};
    case RecordedField::Kind::hexadecimal:
      return {"x", field.bits};
    case RecordedField::Kind::device:
      return {"dev", field.bits};
    case RecordedField::Kind::ip6:
      return {"ip6", 8 * field.size};
    case RecordedField::Kind::bytes:
      return {"bytes", 8 * field.size};
    case RecordedField::Kind::signed_number:
      return {"s", field.bits};
    case RecordedField::Kind::number:
      break;
  }
  return {"u", field.bits};
}

std::string table_of(const RecordedField& field, const std::string& place) {
  return place + '.' + field.name;
}

// Lines "name" and "flag".
std::string name_lines(const std::string& table, const ValueNames& names) {
  std::string text;
  // The first name of a value counts, as for the kernel.
  std::set<std::uint64_t> known;
  for (const auto& [value, name] : names.values) {
    if (!known.insert(value).second) continue;
    const auto number = static_cast<std::int64_t>(value);
    text += "name\t" + table + '\t' +
            (number < 0 && names.flags.empty() ? std::to_string(number) : std::to_string(value)) +
            '\t' + name + '\n';
  }
  for (const auto& [bits, name] : names.flags) {
    text += "flag\t" + table + '\t' + std::to_string(bits) + '\t' + name + '\n';
  }
  return text;
}

}  // namespace

std::string value_fields(std::span<const RecordedField> fields, const std::string& place) {
  std::string text;
  for (const RecordedField& field : fields) {
    if (!text.empty()) text += ' ';
    const auto [type, bits] = type_of(field);
    text += field.name + ':' + (field.names.empty() ? std::string(type) : table_of(field, place)) +
            ':' + std::to_string(field.first_word + 1) + ':' + std::to_string(field.shift) + ':' +
            std::to_string(bits);
  }
  return text;
}

void ValueLines::add(std::uint32_t number, const std::string& place,
                     std::span<const RecordedField> fields) {
  if (fields.empty()) return;
  for (const RecordedField& field : fields) {
    if (!field.names.empty()) names_.emplace(table_of(field, place), field.names);
  }
  std::string text = value_fields(fields, place);
  if (!lines_.empty() && lines_.back().last + 1 == number && lines_.back().fields == text) {
    lines_.back().last = number;
  } else {
    lines_.push_back({number, number, std::move(text)});
  }
}

std::string async_columns(const AsyncPart& async) {
  return std::string(async.begins ? "\tbegin\t" : "\tend\t") + async.kind + '\t' + async.match +
         '\t' + async.lane;
}

void AsyncLines::add(std::uint32_t number, const AsyncPart& async) {
  const std::string text = std::to_string(number);
  lines_ += "async\t" + table_ + '\t' + text + '\t' + text + async_columns(async) + '\n';
}

void LayerLines::add(std::uint32_t number, unsigned layer) {
  if (!lines_.empty() && lines_.back().layer == layer) {
    lines_.back().last = number;
  } else {
    lines_.push_back({number, number, layer});
  }
}

std::string LayerLines::text() const {
  std::string text;
  for (const Line& line : lines_) {
    text += "in\t" + table_ + '\t' + std::to_string(line.first) + '\t' + std::to_string(line.last) +
            '\t' + std::to_string(line.layer) + '\n';
  }
  return text;
}

std::string ValueLines::text() const {
  std::string text;
  for (const auto& [table, names] : names_) text += name_lines(table, names);
  for (const Line& line : lines_) {
    text += "values\t" + table_ + '\t' + std::to_string(line.first) + '\t' +
            std::to_string(line.last) + '\t' + line.fields + '\n';
  }
  return text;
}

}  // namespace fkt::record
