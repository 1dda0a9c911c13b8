// SPDX-License-Identifier: GPL-2.0-only
// What each word of a page is to a digest (lib/digest.h), read from the catalogue once.
#pragma once

#include <array>
#include <cstdint>

#include "lib/catalogue.h"
#include "lib/span_types.h"

namespace fkt {

// Sets of kinds.
constexpr std::uint8_t kind_bit(SpanKind kind) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
}
inline constexpr std::uint8_t kCallKinds =
    kind_bit(SpanKind::syscall) | kind_bit(SpanKind::syscall32);

class DigestTable {
 public:
  enum class Op : std::uint8_t {
    point,
    fault,  // of user mode
    begin,
    end,
    leave,     // an ordinary switch
    switched,  // out of the ordinary, and all that a reader takes for one
    alone,     // an event that stands for itself: never part of a burst
    lost,
    // Not as many words as the id says:
    long_point,  // the argument says how many follow
    long_alone,
    // No events, or two:
    pair,
    odd_pair,  // one that is never part of a burst
    pid,
    time,
    unknown,
  };
  struct Entry {
    Op op = Op::unknown;
    SpanKind kind = SpanKind::other;
    std::uint8_t pair = 0;    // kind_bit() of a pair's; 0: no pair, or an odd one
    bool in_word = false;     // the number stands in the first word behind it, not in the argument
    std::uint16_t words = 0;  // that follow, unless it is a long one
    std::uint16_t first = 0;  // of a pair: the id that means number 0
    std::uint16_t begin = 0;  // of a pair: the id of its first event
    // Of a begin or end: the bits of the argument that are the number. Of a pair: what makes the
    // slot of its type (KnownTypes) of its id.
    std::uint32_t mask = 0;
  };

  explicit DigestTable(const Catalogue& catalogue);
  const Entry& operator[](std::uint32_t id) const { return entries_[id]; }

 private:
  static Entry entry(const EventType& type);
  std::array<Entry, 1 << FKT_ID_BITS> entries_;
};

}  // namespace fkt
