// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/field_text.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

constexpr std::pair<std::string_view, FieldType> kFieldTypes[] = {
    {"u", FieldType::u},
    {"s", FieldType::s},
    {"d", FieldType::d},
    {"x", FieldType::x},
    {"addr", FieldType::addr},
    {"uaddr", FieldType::uaddr},
    {"tid", FieldType::tid},
    {"cpu", FieldType::cpu},
    {"syscall", FieldType::syscall},
    {"syscall32", FieldType::syscall32},
    {"irq", FieldType::irq},
    {"vector", FieldType::vector},
    {"softirq", FieldType::softirq},
    {"trap", FieldType::trap},
    {"exitcode", FieldType::exitcode},
    {"str", FieldType::str},
    {"dev", FieldType::dev},
    {"bytes", FieldType::bytes},
    {"ticks", FieldType::ticks},
    {"ip4", FieldType::ip4},
    {"ip6", FieldType::ip6},
    {"port", FieldType::port},
    {"stack", FieldType::stack},
    {"ustack", FieldType::ustack},
};

FieldType field_type(std::string_view name) {
  const auto* found =
      std::ranges::find(kFieldTypes, name, &std::pair<std::string_view, FieldType>::first);
  return found == std::end(kFieldTypes) ? FieldType::unknown : found->second;
}

std::string_view field_type_name(const Field& field) {
  const auto* found =
      std::ranges::find(kFieldTypes, field.type, &std::pair<std::string_view, FieldType>::second);
  return found == std::end(kFieldTypes) ? std::string_view(field.names) : found->first;
}

constexpr std::pair<std::string_view, FieldUse> kFieldUses[] = {
    {"key", FieldUse::key}, {"begin", FieldUse::begin}, {"duration", FieldUse::duration}};

// Uses that this program does not know are none.
FieldUse field_use(std::string_view name) {
  const auto* found =
      std::ranges::find(kFieldUses, name, &std::pair<std::string_view, FieldUse>::first);
  return found == std::end(kFieldUses) ? FieldUse::none : found->second;
}

std::string_view field_use_name(FieldUse use) {
  const auto* found =
      std::ranges::find(kFieldUses, use, &std::pair<std::string_view, FieldUse>::second);
  return found == std::end(kFieldUses) ? std::string_view() : found->first;
}

}  // namespace

bool parse_fields(std::string_view text, std::vector<Field>& out) {
  while (!text.empty()) {
    std::string_view rest = take_until(text, ' ');
    if (rest.empty()) continue;
    Field field;
    field.name = take_until(rest, ':');
    const std::string_view type = take_until(rest, ':');
    field.type = field_type(type);
    if (field.type == FieldType::unknown || field.type == FieldType::dev) field.names = type;
    if (!parse_number(take_until(rest, ':'), field.word) ||
        !parse_number(take_until(rest, ':'), field.shift) ||
        !parse_number(take_until(rest, ':'), field.bits)) {
      return false;
    }
    field.use = field_use(take_until(rest, ':'));
    const bool is_long = field.type == FieldType::str || is_bytes(field.type);
    const bool number = field.bits != 0 && !is_long;
    if (field.use != FieldUse::none && !number) return false;
    if (field.word > FKT_VAR_MASK) return false;
    const unsigned width = field.word == 0 ? FKT_ARG_BITS : 64;
    // Strings and bytes may extend over several words; any other field lies within one word.
    if (is_long ? field.bits > 64 * FKT_VAR_MASK
                : field.shift >= width || field.bits > width - field.shift) {
      return false;
    }
    out.push_back(std::move(field));
  }
  return true;
}

std::string fields_text(const std::vector<Field>& fields) {
  std::string out;
  for (const Field& field : fields) {
    if (!out.empty()) out += ' ';
    out += fmt::format("{}:{}:{}:{}:{}", field.name, field_type_name(field), field.word,
                       field.shift, field.bits);
    if (field.use != FieldUse::none) out += ':' + std::string(field_use_name(field.use));
  }
  return out;
}

}  // namespace fkt
