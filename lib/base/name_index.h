// SPDX-License-Identifier: GPL-2.0-only
// Finds the items of a long list by their names. Several may have one name. A kernel has 100,000
// functions, and a recorder looks for a few of them: an index is made in a few milliseconds, where
// std::unordered_map takes five times as long, because it allocates each element.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace fkt {

class NameIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  NameIndex() = default;
  // name_of(i) returns the name of item i < count, as a std::string_view. The index stores only
  // hashes of the names; first() needs name_of again, to compare the names themselves.
  template <class NameOf>
  NameIndex(std::uint32_t count, const NameOf& name_of) : next_(count, kNone) {
    slots_.resize(std::bit_ceil(std::uint64_t{count} * 2 + 1));
    // From the last item on, so that the first one of a name is found first.
    for (std::uint32_t i = count; i-- > 0;) {
      const std::string_view name = name_of(i);
      const std::uint32_t of_name = hash(name);
      Slot& slot = slots_[find(name, of_name, name_of)];
      next_[i] = slot.item;
      slot = {of_name, i};
    }
  }

  // Returns the first item of that name; kNone if there is none.
  template <class NameOf>
  std::uint32_t first(std::string_view name, const NameOf& name_of) const {
    return slots_.empty() ? kNone : slots_[find(name, hash(name), name_of)].item;
  }
  // Returns the next item with the same name as `item`; kNone if `item` is the last one.
  std::uint32_t next(std::uint32_t item) const { return next_[item]; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t item = kNone;
  };

  static std::uint32_t hash(std::string_view name) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>()(name));
  }

  // Returns the slot that has the name or would get it: the first one from the hash's own slot on
  // that has the name or none. At least half of the slots have none.
  template <class NameOf>
  std::size_t find(std::string_view name, std::uint32_t hash, const NameOf& name_of) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at].item != kNone &&
           (slots_[at].hash != hash || name_of(slots_[at].item) != name)) {
      at = (at + 1) & mask;
    }
    return at;
  }

  std::vector<Slot> slots_;  // a power of two of them
  std::vector<std::uint32_t> next_;
};

}  // namespace fkt
