// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/point_record.h"

#include <fkt/point_hit.h>

#include <algorithm>

#include "lib/query/lexer.h"

namespace fkt {
namespace {

std::string where(std::uint32_t offset, std::uint32_t size, bool is_signed) {
  return (is_signed ? "signed, " : "unsigned, ") + std::to_string(size) + " bytes at " +
         std::to_string(offset);
}

void fetch_number(Fetch& fetch, std::uint32_t offset, std::uint32_t size, bool is_signed) {
  fetch.from = FKT_FROM_RECORD;
  fetch.offset = static_cast<std::int32_t>(offset);
  fetch.load = static_cast<std::uint8_t>(size);
  fetch.bits = static_cast<std::uint8_t>(8 * size);
  fetch.is_signed = is_signed;
  if (is_signed && size < 8) fetch.left = fetch.right = static_cast<std::uint8_t>(64 - 8 * size);
}

}  // namespace

std::string difference(const EventLayout& layout, std::span<const fkt_record_field> module) {
  if (layout.fields.size() != module.size()) {
    return "its format has " + std::to_string(layout.fields.size()) + " fields, fkt_records " +
           std::to_string(module.size());
  }
  for (std::size_t i = 0; i < module.size(); i++) {
    const EventField& field = layout.fields[i];
    const std::string name(module[i].name,
                           std::find(module[i].name, std::end(module[i].name), '\0'));
    const bool is_same = field.name.substr(0, sizeof module[i].name - 1) == name &&
                         field.offset == module[i].offset && field.size == module[i].size &&
                         field.is_signed == (module[i].is_signed != 0);
    if (is_same) continue;
    return "in its format, field " + std::to_string(i + 1) + " is " + field.name + " (" +
           where(field.offset, field.size, field.is_signed) + "), in fkt_records " + name + " (" +
           where(module[i].offset, module[i].size, module[i].is_signed != 0) + ")";
  }
  return {};
}

Result<Fetch> fetch_field(const EventField& field, const FieldPath& path) {
  using Form = EventField::Form;
  Fetch fetch;
  fetch.index = FKT_POINT_RECORD_WORD;
  switch (field.form) {
    case Form::number:
      fetch_number(fetch, field.offset, field.size, field.is_signed);
      return fetch;
    case Form::text:  // the operand is its address
      fetch.offset = static_cast<std::int32_t>(field.offset);
      fetch.is_text = true;
      fetch.text_bytes = field.size;
      return fetch;
    case Form::text_elsewhere:
      fetch.offset = static_cast<std::int32_t>(field.offset);
      fetch.text_base = field.is_relative ? static_cast<std::int32_t>(field.offset) + 4 : 0;
      fetch.is_text = true;
      return fetch;
    case Form::array: {
      if (path.steps.empty()) return fetch;  // all of its bytes
      const FieldPath::Step& step = path.steps.front();
      if (path.steps.size() > 1 || !step.is_index() || step.index >= field.size / field.element) {
        return at_column(step.column, field.name + " has the elements 0 to " +
                                          std::to_string(field.size / field.element - 1));
      }
      fetch_number(fetch, field.offset + step.index * field.element, field.element,
                   field.is_signed);
      return fetch;
    }
    case Form::other:
      break;
  }
  return at_column(path.column, in_quotes(field.name) +
                                    " has another length in each record: of such fields, only "
                                    "texts can be recorded");
}

}  // namespace fkt
