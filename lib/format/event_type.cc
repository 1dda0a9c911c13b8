// SPDX-License-Identifier: GPL-2.0-only
// The values, texts and bytes of an event's fields, by its type in the catalogue.
#include <algorithm>

#include "lib/base/text.h"
#include "lib/format/catalogue.h"

namespace fkt {

namespace {

// Returns the line for the number that the event has as its key; nullptr: there is none. lines:
// ascending.
template <class Line>
const Line* line_of(const EventType& type, const std::vector<Line>& lines, const Event& event) {
  if (lines.empty()) return nullptr;
  const Field* const key = type.field(FieldUse::key);
  const std::optional<std::uint64_t> number = key ? EventType::value(*key, event) : std::nullopt;
  if (!number) return nullptr;
  const auto behind = std::ranges::upper_bound(lines, *number, {}, &Line::first);
  if (behind == lines.begin() || std::prev(behind)->last < *number) return nullptr;
  return &*std::prev(behind);
}

}  // namespace

std::span<const Field> EventType::values_of(const Event& event) const {
  const KeyedFields* const line = line_of(*this, values, event);
  return line == nullptr ? std::span<const Field>() : line->fields;
}

unsigned EventType::layer_of(const Event& event) const {
  const KeyedLayer* const line = line_of(*this, layers, event);
  return line == nullptr ? layer : line->layer;
}

const KeyedAsync* EventType::async_of(const Event& event) const {
  return line_of(*this, async, event);
}

const Field* EventType::field(FieldUse use) const {
  const auto found = std::ranges::find(fields, use, &Field::use);
  return found == fields.end() ? nullptr : &*found;
}

const Field* EventType::field(const Event& event, std::string_view name) const {
  for (const std::span<const Field> those : {values_of(event), std::span<const Field>(fields)}) {
    const auto found = std::ranges::find(those, name, &Field::name);
    if (found != those.end()) return &*found;
  }
  return nullptr;
}

std::optional<std::uint64_t> EventType::value(const Field& field, const Event& event) {
  if (is_bytes(field.type)) return {};
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
  if (is_signed(field.type)) {
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
  return field.bits != 0 ? subview(bytes, 0, field.bits / 8) : bytes;
}

std::string_view EventType::text_view(const Field& field, const Event& event) {
  std::string_view text = as_text(bytes(field, event));
  return take_until(text, '\0');
}

}  // namespace fkt
