// SPDX-License-Identifier: GPL-2.0-only
// What an event id means to whoever puts entries and exits together, read from the file's catalogue
// once: whether it begins or ends something, of which kind, and which of its bits say which one.
#pragma once

#include <array>
#include <cstdint>

#include "lib/span_types.h"

namespace fkt {

struct Meaning {
  Role role = Role::point;
  SpanKind kind = SpanKind::other;
  std::uint8_t word = 0, shift = 0, bits = 0;  // where the value stands
  std::uint16_t other = 0;                     // of SpanKind::other: which kind ...
  std::uint16_t begin = 0;                     // ... and the id that begins it; 0: none

  // The number of the call, interrupt ... ; 0 where the event is too short for it.
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
