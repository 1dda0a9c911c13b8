// SPDX-License-Identifier: GPL-2.0-only
// Span types that an analysis has met: read by several threads while one thread adds more.
#pragma once

#include <atomic>
#include <memory>

#include "lib/analyse/span_types.h"

namespace fkt {

class SharedTypeTable {
 public:
  SharedTypeTable() : types_(std::make_unique<std::atomic<TypeIndex>[]>(kSpanKinds * kNumbers)) {
    for (std::size_t i = 0; i < kSpanKinds * kNumbers; i++) types_[i] = kNoType;
  }

  // Returns the type of a kind's number. Returns kNoType when it was not met yet, or is not known
  // by its number alone. Relaxed, because no other data is read that depends on the result.
  TypeIndex of(SpanKind kind, std::uint64_t number) const {
    if (number >= kNumbers) return kNoType;
    return slots()[slot(kind) + number].load(std::memory_order_relaxed);
  }
  // All slots, for look-ups by slot: the numbers of a kind below SpanTypes::kSmall are adjacent.
  const std::atomic<TypeIndex>* slots() const { return types_.get(); }
  // Returns the slot of the kind's number 0.
  static constexpr std::uint32_t slot(SpanKind kind) {
    return static_cast<std::uint32_t>(kind) * static_cast<std::uint32_t>(kNumbers);
  }

  // Adds the types that are new since the last call. Only one thread may call this.
  void update(const SpanTypes& types) {
    for (; known_ < types.size(); known_++) {
      const SpanType& type = types[known_];
      if (type.value >= kNumbers) continue;
      at(type.kind, type.value).store(types.find(type.kind, type.value), std::memory_order_relaxed);
    }
  }

 private:
  static constexpr std::uint64_t kNumbers = SpanTypes::kSmall;
  std::atomic<TypeIndex>& at(SpanKind kind, std::uint64_t number) const {
    return types_[slot(kind) + number];
  }

  std::unique_ptr<std::atomic<TypeIndex>[]> types_;  // by kind and number
  TypeIndex known_ = 0;                              // number of types that were added already
};

}  // namespace fkt
