// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/call_events.h"

#include <algorithm>

namespace fkt {
namespace {

// Returns the field's place in its word; nothing: it is no number, or beyond the word.
std::optional<CallEvent::Bits> bits_of(const Field* field) {
  if (field == nullptr || is_bytes(field->type) || field->type == FieldType::ip4 ||
      field->type == FieldType::port) {
    return {};
  }
  const unsigned width = field->word > 0 ? 64 : FKT_ARG_BITS;
  if (field->shift >= width) return {};
  const unsigned room = width - field->shift;
  const unsigned bits = field->bits == 0 ? room : std::min(field->bits, room);
  return CallEvent::Bits{field->word, 64 - bits - field->shift, 64 - bits, is_signed(field->type)};
}

bool is_call(const EventType& type) {
  // The events made of it may have one word more.
  if (type.words && *type.words >= FKT_VAR_MASK) return false;
  const bool sets_thread = (type.id & ~0xfU) == FKT_E_SWITCH_R;
  return type.role == Role::point && !sets_thread && bits_of(type.field(FieldUse::key)) &&
         bits_of(type.field(FieldUse::begin)) && bits_of(type.field(FieldUse::duration));
}

// No event in a file begins a span of this kind: its lines have no such characters.
std::string kind_of(const EventType& type) {
  return type.name + '\n';
}

CallEvent call_event(const EventType& type, std::size_t number) {
  CallEvent call;
  call.id = type.id;
  call.begin = static_cast<std::uint16_t>(kMadeBegins + number);
  call.late_begin = static_cast<std::uint16_t>(kMadeLateBegins + number);
  call.late_end = static_cast<std::uint16_t>(kMadeLateEnds + number);
  call.key = *bits_of(type.field(FieldUse::key));
  call.started = *bits_of(type.field(FieldUse::begin));
  call.duration = *bits_of(type.field(FieldUse::duration));
  call.counted = !type.words;
  call.copies = !type.words || type.fields.size() > 3 || 64 - call.key.right > FKT_ARG_BITS;
  call.words = std::max({call.key.word, call.started.word, call.duration.word});
  return call;
}

// Returns the fields of the begin or end made of the event. late: it has one more word, which
// `extra` names.
std::vector<Field> made_fields(const EventType& type, const CallEvent& call, const char* extra) {
  const bool late = extra != nullptr;
  std::vector<Field> fields;
  for (Field field : type.fields) {
    if (field.use == FieldUse::begin || field.use == FieldUse::duration) continue;
    if (call.copies) {
      field.word += field.word > 0 && late;
    } else {
      field.word = field.shift = 0;
      field.bits = FKT_ARG_BITS;
    }
    fields.push_back(std::move(field));
  }
  if (late) {
    fields.push_back({.name = extra, .type = FieldType::ticks, .names = {}, .word = 1, .bits = 64});
  }
  return fields;
}

EventType made(const EventType& type, const CallEvent& call, std::uint16_t id, Role role,
               const char* extra) {
  EventType made = type;
  made.id = id;
  made.role = role;
  made.kind = kind_of(type);
  made.made_of = type.id;
  made.late = extra != nullptr;
  if (!call.copies) made.words = 0;
  if (made.words) *made.words += made.late;
  made.fields = made_fields(type, call, extra);
  for (KeyedFields& keyed : made.values) {
    for (Field& field : keyed.fields) field.word += made.late;
  }
  return made;
}

}  // namespace

CallEvents::CallEvents(Catalogue& catalogue) {
  const std::vector<EventType> types = catalogue.events();
  const bool named = std::ranges::any_of(types, [&](const EventType& type) {
    return is_call(type) && catalogue.names(*type.field(FieldUse::key)) != nullptr;
  });
  if (!named) return;
  by_id_.assign(1 << FKT_ID_BITS, -1);
  for (const EventType& type : types) {
    if (!is_call(type) || events_.size() == kMostCallEvents) continue;
    const CallEvent call = call_event(type, events_.size());
    by_id_[type.id] = static_cast<std::int8_t>(events_.size());
    events_.push_back(call);
    catalogue.set(made(type, call, call.id, Role::end, nullptr));
    catalogue.set(made(type, call, call.begin, Role::begin, nullptr));
    catalogue.set(made(type, call, call.late_begin, Role::begin, "began"));
    catalogue.set(made(type, call, call.late_end, Role::end, "duration"));
    const bool of_user = catalogue.nesting(type.name) == Nesting::user;
    const Nesting nesting = of_user ? Nesting::complete_user : Nesting::complete;
    if (catalogue.nesting(kind_of(type)) != nesting) catalogue.add_span(kind_of(type), nesting);
  }
}

}  // namespace fkt
