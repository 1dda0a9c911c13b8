// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/value_lines.h"

#include <utility>

namespace fkt::record {
namespace {

// The type of the field in the catalogue, and how many bits it has.
std::pair<std::string_view, unsigned> type_of(const RecordedField& field) {
  if (!field.shown_as.empty()) return {field.shown_as, 64};
  switch (field.kind) {
    case RecordedField::Kind::text:
      return {"str", 64u * field.words};
    case RecordedField::Kind::address:
      return {"addr", 64};
    case RecordedField::Kind::hexadecimal:
      return {"x", 64};
    case RecordedField::Kind::signed_number:
      return {"s", 64};
    case RecordedField::Kind::number:
      break;
  }
  return {"u", 64};
}

}  // namespace

std::string value_fields(std::span<const RecordedField> fields) {
  std::string text;
  for (const RecordedField& field : fields) {
    if (!text.empty()) text += ' ';
    const auto [type, bits] = type_of(field);
    text += field.name + ':' + std::string(type) + ':' + std::to_string(field.first_word + 1) +
            ":0:" + std::to_string(bits);
  }
  return text;
}

void ValueLines::add(std::uint32_t number, std::span<const RecordedField> fields) {
  if (fields.empty()) return;
  std::string text = value_fields(fields);
  if (!lines_.empty() && lines_.back().last + 1 == number && lines_.back().fields == text) {
    lines_.back().last = number;
  } else {
    lines_.push_back({number, number, std::move(text)});
  }
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
  for (const Line& line : lines_) {
    text += "values\t" + table_ + '\t' + std::to_string(line.first) + '\t' +
            std::to_string(line.last) + '\t' + line.fields + '\n';
  }
  return text;
}

}  // namespace fkt::record
