// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/meanings.h"

#include <algorithm>

namespace fkt {

Meanings::Meanings(const Catalogue& catalogue, const SpanKinds& kinds) {
  bool any_async = false;
  for (const EventType& type : catalogue.events()) {
    Meaning& meaning = meanings_[type.id & FKT_ID_MASK];
    meaning.role = type.role;
    meaning.async = !type.async.empty();
    any_async = any_async || meaning.async;
    if (type.role == Role::point) continue;
    meaning.kind = kinds.of(type);
    meaning.late = type.late;
    const SpanKinds::Info& kind = kinds[meaning.kind];
    meaning.by_id = meaning.kind.number() >= kOwnSpanKinds && kind.key == nullptr;
    meaning.begin = kind.begin;
    const Field* const key = kinds.key(type);
    if (key == nullptr) continue;
    meaning.same_key = !is_syscall(meaning.kind);
    meaning.word = static_cast<std::uint8_t>(key->word);
    meaning.shift = static_cast<std::uint8_t>(key->shift);
    meaning.bits = static_cast<std::uint8_t>(key->bits);
  }
  for (const std::uint16_t id : {FKT_E_MASK, FKT_E_TABLE}) meanings_[id].async = any_async;
  for (const PairType& pair : catalogue.pairs()) {
    whole_[pair.first & FKT_ID_MASK] = always_ends(pair);
  }
}

bool Meanings::always_ends(const PairType& pair) const {
  const Meaning& begins = (*this)[pair.begin];
  const Meaning& ends = (*this)[pair.end];
  if (begins.role != Role::begin || ends.role != Role::end) return false;
  if (pair.begin == FKT_E_IRQ_ENTRY_NAMED) return false;
  if (is_syscall(ends.kind)) return is_syscall(begins.kind);
  if (begins.kind != ends.kind) return false;
  if (!ends.same_key) return true;
  // Both events have the pair's number as their argument. So their keys are equal if both key
  // fields are the same bits of the argument.
  const bool same_part =
      begins.word == 0 && ends.word == 0 && begins.shift == ends.shift && begins.bits == ends.bits;
  return same_part && pair.number && !pair.value;
}

bool has_ordinary_switches(const Catalogue& catalogue) {
  return std::ranges::all_of(catalogue.events(), [](const EventType& type) {
    const bool as_switch = (type.id & ~0xfU) == FKT_E_SWITCH_R;
    return !as_switch || (is_switch(type.id) && type.role == Role::point && type.words == 0);
  });
}

}  // namespace fkt
