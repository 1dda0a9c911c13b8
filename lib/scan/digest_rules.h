// SPDX-License-Identifier: GPL-2.0-only
// How a digest (lib/scan/digest.h) handles each word id; computed once from the catalogue.
#pragma once

#include <array>
#include <cstdint>

#include "lib/analyse/span_types.h"
#include "lib/format/catalogue.h"
#include "lib/scan/shared_type_table.h"

namespace fkt {

// Sets of nestings, a bit for each.
constexpr std::uint8_t nesting_bit(Nesting nesting) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(nesting));
}
inline constexpr std::uint8_t kCalls = nesting_bit(Nesting::call);

class DigestRules {
 public:
  enum class Op : std::uint8_t {
    point,
    fault,  // a page fault of user mode
    begin,
    end,
    leave,     // an ordinary switch
    switched,  // an unusual switch, or another event that sets the running thread
    alone,     // an event that is read by itself: never part of a burst
    lost,
    // The argument, not the id, says how many words follow:
    long_point,
    long_alone,
    // Words that are no event, or two events:
    pair,
    odd_pair,  // a pair that is never part of a burst
    pid,
    time,
    unknown,
  };
  struct Entry {
    Op op = Op::unknown;
    std::uint8_t pair = 0;  // nesting_bit() of the pair's kind; 0: no pair, or an odd one
    SpanKind kind = SpanKind::other;
    // The key is in the first word after the event word, not in the argument.
    bool in_word = false;
    bool same_key = false;    // of an end: as Meaning::same_key
    std::uint16_t words = 0;  // number of words that follow, unless it is a long one
    // Of a pair: the id of number 0. Of a begin: added to its key, it gives the number of its type.
    std::uint16_t first = 0;
    std::uint16_t begin = 0;  // of a pair: the id of its begin event
    // Of a begin or end: mask of the argument's bits that are the key. Of a pair: added to its id,
    // it gives the slot of its type (SharedTypeTable).
    std::uint32_t mask = 0;
  };

  // states: wake-ups and page faults of user mode are never part of a burst.
  DigestRules(const Catalogue& catalogue, const SharedTypeTable& types, bool states = false);
  const Entry& operator[](std::uint32_t id) const { return entries_[id]; }

 private:
  static Entry entry(const EventType& type, const SpanKinds& kinds);
  static void set_key(Entry& entry, const EventType& type, const Field* key);
  std::array<Entry, 1 << FKT_ID_BITS> entries_;
};

}  // namespace fkt
