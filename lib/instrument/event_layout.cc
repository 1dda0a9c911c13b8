// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/event_layout.h"

#include <algorithm>

#include "lib/base/parse.h"
#include "lib/base/text.h"
#include "lib/instrument/print_format.h"

namespace fkt {
namespace {

constexpr std::uint32_t kMostBytes = 65536;  // of a record

struct ElementType {
  std::string_view name;
  std::uint32_t bytes;
};

// Words of types that tell the size of an array's element.
constexpr ElementType kElements[] = {
    {"char", 1},  {"u8", 1},     {"__u8", 1},  {"s8", 1},     {"short", 2}, {"u16", 2},
    {"__u16", 2}, {"__be16", 2}, {"long", 8},  {"u64", 8},    {"__u64", 8}, {"s64", 8},
    {"int", 4},   {"u32", 4},    {"__u32", 4}, {"__be32", 4}, {"s32", 4},   {"pid_t", 4}};

// Removes what follows and returns it as a number: "\toffset:8".
bool take_property(std::string_view& text, std::string_view name, std::uint32_t& value) {
  std::string_view property = take_until(text, ';');
  while (!property.empty() && (property[0] == '\t' || property[0] == ' ')) {
    property.remove_prefix(1);
  }
  return take_until(property, ':') == name && parse_number(property, value) && value <= kMostBytes;
}

// Returns the size of an element; 1 if its type is not known.
std::uint32_t element_bytes(std::string_view type) {
  if (type.find('*') != type.npos) return 8;
  while (!type.empty()) {
    const std::string_view word = take_until(type, ' ');
    const auto* const found = std::ranges::find(kElements, word, &ElementType::name);
    if (found != std::end(kElements)) return found->bytes;
  }
  return 1;
}

bool is_characters(std::string_view type) {
  return type == "char" || type == "const char";
}

void set_form(EventField& field, std::string_view type, bool is_array) {
  if (is_array) {
    field.element = element_bytes(type);
    if (field.size % field.element != 0) field.element = 1;
    field.form = is_characters(type) ? EventField::Form::text : EventField::Form::array;
  } else if (field.size != 1 && field.size != 2 && field.size != 4 && field.size != 8) {
    field.element = 1;  // a structure
    field.form = EventField::Form::array;
  } else if (type.find('*') != type.npos) {
    field.shown = EventField::Shown::address;
  } else if (type == "dev_t") {
    field.shown = EventField::Shown::device;
  }
}

// "TYPE NAME", "TYPE NAME[8]", "__data_loc char[] NAME"
bool parse_declaration(std::string_view text, EventField& field) {
  const std::size_t bracket = text.back() == ']' ? text.find('[') : text.npos;
  std::string_view type = text.substr(0, bracket);
  const std::size_t blank = type.rfind(' ');
  if (blank == type.npos) return false;
  const std::size_t stars = type.find_first_not_of('*', blank + 1);
  if (stars == type.npos) return false;
  field.name = type.substr(stars);
  type = type.substr(0, stars);
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  const bool is_name = !field.name.empty() && std::ranges::all_of(field.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!is_name) return false;
  const bool is_located = type.starts_with("__data_loc "),
             is_relative = type.starts_with("__rel_loc ");
  if (type.starts_with("enum ")) field.enumeration = type.substr(5);
  if (!is_located && !is_relative) {
    set_form(field, type, bracket != text.npos);
    return true;
  }
  take_until(type, ' ');
  field.is_relative = is_relative;
  const bool is_text = type.ends_with("[]") && is_characters(type.substr(0, type.size() - 2));
  field.form = is_text ? EventField::Form::text_elsewhere : EventField::Form::other;
  return field.size == 4;
}

// "\tfield:TYPE NAME;\toffset:8;\tsize:4;\tsigned:0;"
bool parse_field(std::string_view line, EventField& field) {
  std::string_view declaration = take_until(line, ';');
  if (take_until(declaration, ':') != "\tfield" || declaration.empty()) return false;
  std::uint32_t is_signed = 0;
  if (!take_property(line, "offset", field.offset) || !take_property(line, "size", field.size) ||
      !take_property(line, "signed", is_signed) || field.size == 0) {
    return false;
  }
  field.is_signed = is_signed != 0;
  return parse_declaration(declaration, field);
}

}  // namespace

std::optional<std::uint64_t> ValueNames::find(std::string_view name) const {
  for (const std::vector<Name>* const list : {&values, &flags}) {
    const auto found = std::ranges::find(*list, name, &Name::second);
    if (found != list->end()) return found->first;
  }
  return std::nullopt;
}

const EventField* EventLayout::find(std::string_view field) const {
  const auto found = std::ranges::find(fields, field, &EventField::name);
  return found == fields.end() ? nullptr : &*found;
}

Result<EventLayout> EventLayout::parse(std::string_view format, const Enumerators& enumerators) {
  EventLayout layout;
  bool has_fields = false;
  while (!format.empty()) {
    std::string_view line = take_until(format, '\n');
    if (line.starts_with("name: ")) layout.name = line.substr(6);
    if (line == "format:") has_fields = true;
    if (line.starts_with("print fmt: ")) {
      apply_print_format(line.substr(11), layout.fields, enumerators);
    }
    if (!line.starts_with("\tfield:")) continue;
    EventField field;
    if (!parse_field(line, field)) {
      return Error{ErrorCode::damaged,
                   "format of " + layout.name + ": not a field: " + std::string(line.substr(1))};
    }
    if (!field.name.starts_with("common_")) layout.fields.push_back(std::move(field));
  }
  if (layout.name.empty() || !has_fields) {
    return Error{ErrorCode::damaged, "not the format of an event"};
  }
  return layout;
}

}  // namespace fkt
