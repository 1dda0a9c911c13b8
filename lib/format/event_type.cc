// SPDX-License-Identifier: GPL-2.0-only
// What an event of a type in the catalogue has: its fields' values, texts and bytes.
#include <algorithm>

#include "lib/base/text.h"
#include "lib/format/catalogue.h"

namespace fkt {

std::span<const Field> EventType::values_of(const Event& event) const {
  if (values.empty()) return {};
  const Field* const key = field(FieldUse::key);
  const std::optional<std::uint64_t> number = key ? value(*key, event) : std::nullopt;
  if (!number) return {};
  const auto behind = std::ranges::upper_bound(values, *number, {}, &KeyedFields::first);
  if (behind == values.begin() || std::prev(behind)->last < *number) return {};
  return std::prev(behind)->fields;
}

unsigned EventType::layer_of(const Event& event) const {
  if (layers.empty()) return layer;
  const Field* const key = field(FieldUse::key);
  const std::optional<std::uint64_t> number = key ? value(*key, event) : std::nullopt;
  if (!number) return layer;
  const auto behind = std::ranges::upper_bound(layers, *number, {}, &KeyedLayer::first);
  if (behind == layers.begin() || std::prev(behind)->last < *number) return layer;
  return std::prev(behind)->layer;
}

const Field* EventType::field(FieldUse use) const {
  const auto found = std::ranges::find(fields, use, &Field::use);
  return found == fields.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> EventType::value(const Field& field, const Event& event) {
  if (field.type == FieldType::bytes) return {};
  std::uint64_t word = event.arg;
  unsigned width = FKT_ARG_BITS;
  if (field.word > 0) {
    if (field.word > event.words.size()) return {};
    word = event.words[field.word - 1];
    width = 64;
  }
  if (field.shift >= width) return {};
  const unsigned bits =
      field.bits == 0 ? width - field.shift : std::min(field.bits, width - field.shift);
  word = word >> field.shift << (64 - bits);  // shifts the field's top bit to the top of the word
  if (field.type == FieldType::s) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(word) >> (64 - bits));
  }
  word >>= 64 - bits;
  // In packets the most significant byte comes first.
  if (field.type == FieldType::ip4) return __builtin_bswap32(static_cast<std::uint32_t>(word));
  if (field.type == FieldType::port) return __builtin_bswap16(static_cast<std::uint16_t>(word));
  return word;
}

ByteView EventType::bytes(const Field& field, const Event& event) {
  if (field.word == 0 || field.word > event.words.size()) return {};
  const ByteView bytes = std::as_bytes(event.words.subspan(field.word - 1));
  return field.bits != 0 ? slice(bytes, 0, field.bits / 8) : bytes;
}

std::string_view EventType::text_view(const Field& field, const Event& event) {
  std::string_view text = as_text(bytes(field, event));
  return take_until(text, '\0');
}

}  // namespace fkt
