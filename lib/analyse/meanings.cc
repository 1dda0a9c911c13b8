// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/meanings.h"

#include <algorithm>

namespace fkt {

Meanings::Meanings(const Catalogue& catalogue) {
  std::vector<std::string> others;
  std::vector<std::uint16_t> begins;  // by number of the kind: the id of its first begin event
  for (const EventType& type : catalogue.events()) {
    Meaning& meaning = meanings_[type.id & FKT_ID_MASK];
    meaning.role = type.role;
    meaning.kind = span_kind(type);
    if (!type.fields.empty()) {
      meaning.word = static_cast<std::uint8_t>(type.fields[0].word);
      meaning.shift = static_cast<std::uint8_t>(type.fields[0].shift);
      meaning.bits = static_cast<std::uint8_t>(type.fields[0].bits);
    }
    if (type.role == Role::point || meaning.kind != SpanKind::other) continue;
    const auto found = std::find(others.begin(), others.end(), type.kind);
    meaning.other = static_cast<std::uint16_t>(found - others.begin());
    if (found == others.end()) others.push_back(type.kind);
    begins.resize(others.size());
    if (type.role == Role::begin && begins[meaning.other] == 0) begins[meaning.other] = type.id;
  }
  for (Meaning& meaning : meanings_) {
    const bool other = meaning.role != Role::point && meaning.kind == SpanKind::other;
    if (other) meaning.begin = begins[meaning.other];
  }
}

std::uint64_t Meaning::value(const Event& event) const {
  if (word > event.words.size()) return 0;
  const std::uint64_t whole = word == 0 ? event.arg : event.words[word - 1];
  const std::uint64_t shifted = shift < 64 ? whole >> shift : 0;
  return bits < 64 ? shifted & ((1ULL << bits) - 1) : shifted;
}

}  // namespace fkt
