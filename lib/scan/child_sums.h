// SPDX-License-Identifier: GPL-2.0-only
// ChildSums: sums of spans by their type and by the type of the span around them: one hash table
// for all types, so that even with tens of thousands of types a sum is in one cache line, whose
// address is known early enough to prefetch it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/analyse/burst.h"

namespace fkt {

class ChildSums {
 public:
  // child.count must not be 0.
  void add(const ChildRecord& child) {
    if (2 * used_ >= slots_.size()) [[unlikely]]
      grow();
    Slot& slot = find(key(child));
    used_ += slot.count == 0;
    slot.key = key(child);
    slot.count += child.count;
    slot.ticks += child.ticks;
  }
  // Prefetches the slot that add(child) will use.
  [[gnu::always_inline]] void fetch(const ChildRecord& child) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[home(key(child))], 1);
  }
  // Calls take(sum) for each sum, in no particular order.
  template <class Take>
  void for_each(const Take& take) const {
    for (const Slot& slot : slots_) {
      if (slot.count == 0) continue;
      take(ChildRecord{static_cast<TypeIndex>(slot.key >> 32), static_cast<TypeIndex>(slot.key),
                       slot.count, slot.ticks});
    }
  }

 private:
  struct alignas(32) Slot {
    std::uint64_t key = 0, count = 0, ticks = 0;  // count 0: a free slot
  };
  static std::uint64_t key(const ChildRecord& child) {
    return std::uint64_t{child.around} << 32 | child.type;
  }
  // Where the search for the slot begins. Precondition: there are slots.
  std::size_t home(std::uint64_t key) const {
    return (key * 0x9e3779b97f4a7c15ULL >> 32) & (slots_.size() - 1);
  }
  Slot& find(std::uint64_t key) {
    std::size_t at = home(key);
    while (slots_[at].count != 0 && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most half of them used; or none
  std::size_t used_ = 0;
};

}  // namespace fkt
