// SPDX-License-Identifier: GPL-2.0-only
// Span types that an analysis has met: read by several threads while one thread adds more.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "lib/analyse/span_types.h"

namespace fkt {

class SharedTypeTable {
 public:
  // kinds must outlive this object.
  explicit SharedTypeTable(const SpanKinds& kinds) : kinds_(kinds) {
    for (std::uint16_t number = 0; number < kinds.size(); number++) {
      first_.push_back(slots_);
      slots_ += kinds.info(number).numbers;
    }
    first_.push_back(slots_);
    types_ = std::make_unique<std::atomic<TypeIndex>[]>(slots_);
    for (std::uint32_t i = 0; i < slots_; i++) types_[i] = kNoType;
  }

  const SpanKinds& kinds() const { return kinds_; }
  // Returns the type of a kind's number. Returns kNoType when it was not met yet, or is not known
  // by its number alone. Relaxed, because no other data is read that depends on the result.
  TypeIndex of(SpanKind kind, std::uint64_t number) const {
    const std::uint32_t first = slot(kind), end = first_[kind.number() + 1U];
    if (number >= end - first) return kNoType;
    return slots()[first + number].load(std::memory_order_relaxed);
  }
  // All slots, for look-ups by slot: the numbers of a kind below SpanKinds::Info::numbers are
  // adjacent.
  const std::atomic<TypeIndex>* slots() const { return types_.get(); }
  // Returns the slot of the kind's number 0.
  std::uint32_t slot(SpanKind kind) const { return first_[kind.number()]; }

  // Adds the types that are new since the last call. Only one thread may call this.
  void update(const SpanTypes& types) {
    for (; known_ < types.size(); known_++) {
      const SpanType& type = types[known_];
      if (type.kind.number() + 1U >= first_.size()) continue;  // only of a damaged checkpoint
      const std::uint32_t first = slot(type.kind), end = first_[type.kind.number() + 1U];
      if (type.value >= end - first) continue;
      types_[first + type.value].store(types.find(type.kind, type.value),
                                       std::memory_order_relaxed);
    }
  }

 private:
  const SpanKinds& kinds_;
  std::vector<std::uint32_t> first_;  // by kind: the slot of its number 0; last, the end of all
  std::uint32_t slots_ = 0;
  std::unique_ptr<std::atomic<TypeIndex>[]> types_;  // by kind and number
  TypeIndex known_ = 0;                              // number of types that were added already
};

}  // namespace fkt
