// SPDX-License-Identifier: GPL-2.0-only
// What an event id means when entries are paired with exits: whether the event begins or ends a
// span, of which kind, and which of its bits are the key: the number of the call, interrupt or
// function. Built once from the file's catalogue.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "lib/analyse/span_types.h"

namespace fkt {

struct Meaning {
  Role role = Role::point;
  SpanKind kind = SpanKind::other;
  bool by_id = false;  // types of this kind are told apart by the begin event's id, not by a key
  // The end of a span: it ends the innermost open span of its kind with the same key; else the
  // innermost of its kind.
  bool same_key = false;
  bool late = false;   // as EventType::late: the first word has the time or the duration
  bool async = false;  // it may begin or end asynchronous spans (lib/analyse/async_spans.h)
  std::uint8_t word = 0, shift = 0, bits = 0;  // bit field of the key; word 0: the argument
  std::uint16_t begin = 0;                     // id of the kind's first begin event; 0: none

  // Returns the key; 0 when the event has none or too few words.
  std::uint64_t value(const Event& event) const { return value(event.arg, event.words); }
  std::uint64_t value(std::uint32_t arg, std::span<const std::uint64_t> words) const {
    if (word > words.size()) return 0;
    const std::uint64_t whole = word == 0 ? arg : words[word - 1];
    const std::uint64_t shifted = shift < 64 ? whole >> shift : 0;
    return bits < 64 ? shifted & ((1ULL << bits) - 1) : shifted;
  }
  // Returns when the span begins that the event begins (ticks).
  std::uint64_t begins_at(const Event& event) const {
    return late && !event.words.empty() ? event.words[0] : event.clock;
  }
  // Returns the duration of the span that began at `begin` and that the event ends (ticks).
  std::uint64_t duration(const Event& event, std::uint64_t begin) const {
    return late && !event.words.empty() ? event.words[0] : event.clock - begin;
  }
  // Returns whether the event, whose key is `number`, can end the span.
  bool ends(SpanKind open, std::uint64_t open_number, std::uint64_t number) const {
    if (is_syscall(kind)) return is_syscall(open);
    return open == kind && (!same_key || open_number == number);
  }
};

// Returns the type of the span that the event begins; number: its key.
inline TypeIndex begun_type(SpanTypes& types, const Meaning& meaning, const Event& event,
                            std::uint64_t number) {
  if (event.id == FKT_E_IRQ_ENTRY_NAMED && meaning.kind == SpanKind::irq) {
    return types.named_irq(number, event);
  }
  return types.of(meaning.kind, meaning.by_id ? event.id : number, event.id);
}

class Meanings {
 public:
  Meanings(const Catalogue& catalogue, const SpanKinds& kinds);
  const Meaning& operator[](std::uint16_t id) const { return meanings_[id & FKT_ID_MASK]; }
  // Returns true if the end event of such a pair always ends the span that the pair's begin event
  // has opened, provided that no other span was opened between them; false: it depends on the keys
  // of the two events.
  bool ends_its_begin(const PairType& pair) const { return whole_[pair.first & FKT_ID_MASK]; }

 private:
  bool always_ends(const PairType& pair) const;

  std::array<Meaning, 1 << FKT_ID_BITS> meanings_{};
  std::array<bool, 1 << FKT_ID_BITS> whole_{};  // by the first id of a pair
};

// Returns whether the catalogue's events of switches all have the form that TaskStates knows
// (lib/analyse/task_states.h). With other forms, which only a changed catalogue has, the thread
// that decoders name after a switch is not the one that TaskStates takes to run: such a recording
// must be read event by event.
bool has_ordinary_switches(const Catalogue& catalogue);

}  // namespace fkt
