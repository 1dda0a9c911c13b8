// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/place_fields.h"

#include <string_view>
#include <vector>

#include "lib/base/bytes.h"

namespace fkt {
namespace {

constexpr std::uint32_t kBitsPerByte = 8;

std::string list(const std::vector<std::string>& parts) {
  std::string text = "(";
  for (const std::string& part : parts) text += (text.size() == 1 ? "" : ", ") + part;
  return text + ')';
}

// As in C: a pointer's name follows the asterisk.
std::string declared(const std::string& type, const std::string& name) {
  return type + (type.ends_with('*') ? "" : " ") + name;
}

std::string number(bool is_signed, std::uint32_t bytes) {
  return (is_signed ? 's' : 'u') + std::to_string(bytes * kBitsPerByte);
}

std::string type_text(const EventField& field) {
  switch (field.form) {
    case EventField::Form::number:
      if (field.shown == EventField::Shown::address) return "address";
      if (field.shown == EventField::Shown::device) return "device";
      return number(field.is_signed, field.size);
    case EventField::Form::array:
      if (field.element == 0) return {};
      return number(field.is_signed, field.element) + '[' +
             std::to_string(field.size / field.element) + ']';
    case EventField::Form::text:
      return "char[" + std::to_string(field.size) + ']';
    case EventField::Form::text_elsewhere:
      return "text";
    default:
      return {};
  }
}

}  // namespace

std::string arguments_text(const Prototype& prototype, const Btf& btf) {
  std::vector<std::string> parts;
  for (const Prototype::Argument& argument :
       prototype.in_registers ? *prototype.in_registers : prototype.arguments) {
    const std::string name =
        argument.name.empty() ? "arg" + std::to_string(parts.size() + 1) : argument.name;
    const bool is_known = !argument.declaration.empty();
    parts.push_back(is_known ? argument.declaration : declared(btf.name(argument.type), name));
  }
  if (prototype.is_variadic) parts.emplace_back("...");
  const bool is_void = btf.type(prototype.result).kind == TypeKind::none;
  return list(parts) + (is_void ? "" : ' ' + btf.name(prototype.result));
}

std::string fields_text(const EventLayout& layout) {
  std::vector<std::string> parts;
  for (const EventField& field : layout.fields) {
    const std::string type = type_text(field);
    if (!type.empty()) parts.push_back(type + ' ' + field.name);
  }
  return list(parts);
}

std::string fields_text(const ModuleProbe& probe) {
  if (!probe.wrong.empty()) return {};
  std::vector<std::string> parts;
  std::string_view rest = probe.description;
  while (!rest.empty()) {
    const std::string_view word = take_until(rest, ' ');
    const std::size_t equals = word.find('=');
    if (equals == word.npos) continue;
    parts.push_back(std::string(word.substr(equals + 1)) + ' ' +
                    std::string(word.substr(0, equals)));
  }
  return list(parts);
}

}  // namespace fkt
