// SPDX-License-Identifier: GPL-2.0-only
// What an event id means when entries are paired with exits: whether the event begins or ends a
// span, of which kind, and which of its bits hold the number of the call or interrupt. Built once
// from the file's catalogue.
#pragma once

#include <array>
#include <cstdint>

#include "lib/analyse/span_types.h"

namespace fkt {

struct Meaning {
  Role role = Role::point;
  SpanKind kind = SpanKind::other;
  std::uint8_t word = 0, shift = 0, bits = 0;  // bit field of the value; word 0: the argument
  std::uint16_t other = 0;  // SpanKind::other: number of the kind in the catalogue
  std::uint16_t begin = 0;  // SpanKind::other: id of the kind's begin event; 0: none

  // Returns the number of the system call, interrupt etc.; 0 when the event has too few words.
  std::uint64_t value(const Event& event) const;
};

class Meanings {
 public:
  explicit Meanings(const Catalogue& catalogue);
  const Meaning& operator[](std::uint16_t id) const { return meanings_[id & FKT_ID_MASK]; }

 private:
  std::array<Meaning, 1 << FKT_ID_BITS> meanings_{};
};

}  // namespace fkt
