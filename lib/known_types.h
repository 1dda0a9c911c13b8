// SPDX-License-Identifier: GPL-2.0-only
// The types of spans that an analysis has met, for other threads to look up while it meets more.
#pragma once

#include <atomic>
#include <memory>

#include "lib/span_types.h"

namespace fkt {

class KnownTypes {
 public:
  KnownTypes() : types_(std::make_unique<std::atomic<TypeIndex>[]>(kSpanKinds * kNumbers)) {
    for (std::size_t i = 0; i < kSpanKinds * kNumbers; i++) types_[i] = kNoType;
  }

  // kNoType: not met yet, or not by its number alone. Nothing else is read because of what this
  // says, so it orders nothing.
  TypeIndex of(SpanKind kind, std::uint64_t number) const {
    if (number >= kNumbers) return kNoType;
    return slots()[slot(kind) + number].load(std::memory_order_relaxed);
  }
  // The same by slot: those of a kind's numbers below SpanTypes::kSmall are side by side.
  const std::atomic<TypeIndex>* slots() const { return types_.get(); }
  // The slot of the kind's number 0.
  static constexpr std::uint32_t slot(SpanKind kind) {
    return static_cast<std::uint32_t>(kind) * static_cast<std::uint32_t>(kNumbers);
  }

  // Learns of those added since the last time. One thread only.
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
  TypeIndex known_ = 0;                              // the first so many
};

}  // namespace fkt
