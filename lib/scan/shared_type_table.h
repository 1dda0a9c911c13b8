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
    std::uint16_t by_id = 0;  // the first kind whose types are told apart by the event's id
    for (std::uint16_t number = 0; number < kinds.size(); number++) {
      const SpanKinds::Info& info = kinds.info(number);
      const bool has_ids = number >= kOwnSpanKinds && info.key == nullptr;
      // All such kinds have the same slots: an id begins spans of one kind only.
      ranges_.push_back(has_ids && by_id != 0 ? ranges_[by_id] : Range{slots_, info.numbers});
      if (has_ids && by_id != 0) continue;
      if (has_ids) by_id = number;
      slots_ += info.numbers;
    }
    types_ = std::make_unique<std::atomic<TypeIndex>[]>(slots_);
    for (std::uint32_t i = 0; i < slots_; i++) types_[i] = kNoType;
  }

  const SpanKinds& kinds() const { return kinds_; }
  // Returns the type of a kind's number. Returns kNoType when it was not met yet, or is not known
  // by its number alone. Relaxed, because no other data is read that depends on the result.
  TypeIndex of(SpanKind kind, std::uint64_t number) const {
    const Range range = ranges_[kind.number()];
    if (number >= range.numbers) return kNoType;
    return slots()[range.first + number].load(std::memory_order_relaxed);
  }
  // All slots, for look-ups by slot: the numbers of a kind below SpanKinds::Info::numbers are
  // adjacent.
  const std::atomic<TypeIndex>* slots() const { return types_.get(); }
  // Returns the slot of the kind's number 0.
  std::uint32_t slot(SpanKind kind) const { return ranges_[kind.number()].first; }

  // Adds the types that are new since the last call. Only one thread may call this.
  void update(const SpanTypes& types) {
    for (; known_ < types.size(); known_++) {
      const SpanType& type = types[known_];
      if (type.kind.number() >= ranges_.size()) continue;  // only of a damaged checkpoint
      const Range range = ranges_[type.kind.number()];
      if (type.value >= range.numbers) continue;
      types_[range.first + type.value].store(types.find(type.kind, type.value),
                                             std::memory_order_relaxed);
    }
  }

 private:
  const SpanKinds& kinds_;
  struct Range {
    std::uint32_t first = 0, numbers = 0;  // slot of number 0; numbers that have a slot
  };
  std::vector<Range> ranges_;  // by kind
  std::uint32_t slots_ = 0;
  std::unique_ptr<std::atomic<TypeIndex>[]> types_;  // by kind and number
  TypeIndex known_ = 0;                              // number of types that were added already
};

}  // namespace fkt
