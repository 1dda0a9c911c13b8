// SPDX-License-Identifier: GPL-2.0-only
// The types of spans (one per system call, interrupt line, vector, softirq etc.), numbered densely,
// so that nothing is looked up by name while events are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/format/number_names.h"
#include "lib/format/span_kind.h"

namespace fkt {

using TypeIndex = std::uint32_t;
inline constexpr TypeIndex kNoType = ~TypeIndex{0};

// Returns the kind of span that this event type begins or ends.
SpanKind span_kind(const EventType& type);

struct SpanType {
  SpanKind kind = SpanKind::other;
  std::uint64_t value = 0;     // number of the call, interrupt etc.; other: the begin event's id
  std::uint16_t event = 0;     // the id of the event that begins it
  std::string name;            // "sys_openat", "irq 14 ide0", "vector local_timer", "softirq RCU"
  bool never_returns = false;  // exit, exit_group, rt_sigreturn
  std::uint64_t named = 0;  // hash of the event's words when they name the device; 0: they do not
};

class SpanTypes {
 public:
  static constexpr std::uint64_t kSmall = 4096;  // smaller numbers are found in a flat table

  explicit SpanTypes(const TraceInfo& info);

  // Returns the type of a span with this number (`value`), adding it when it is new.
  TypeIndex of(SpanKind kind, std::uint64_t value, std::uint16_t event) {
    auto& small = small_[static_cast<std::size_t>(kind)];
    if (value < small.size() && small[value] != kNoType) return small[value];
    return add(kind, value, event, {});
  }
  // Returns the type, or kNoType when it is not known; only for numbers below kSmall.
  TypeIndex find(SpanKind kind, std::uint64_t value) const {
    const auto& small = small_[static_cast<std::size_t>(kind)];
    return value < small.size() ? small[value] : kNoType;
  }
  // Returns the type of an interrupt whose event carries the device's name: the same number with
  // another device is another type.
  TypeIndex named_irq(std::uint64_t number, const Event& event);

  const SpanType& operator[](TypeIndex type) const { return types_[type]; }
  TypeIndex size() const { return static_cast<TypeIndex>(types_.size()); }
  const NumberNames& names() const { return names_; }
  // Writes all types into the checkpoint.
  void save(Checkpoint& checkpoint) const;
  // Adds the checkpoint's types that are not known yet; returns the TypeIndex of each of the
  // checkpoint's types.
  std::vector<TypeIndex> restore(const Checkpoint& checkpoint);

 private:
  TypeIndex known(const Checkpoint::Type& saved) const;
  void enter(TypeIndex index);
  TypeIndex add(SpanKind kind, std::uint64_t value, std::uint16_t event, std::string device);
  std::string name(SpanKind kind, std::uint64_t value, std::string_view device) const;

  NumberNames names_;
  const Catalogue& catalogue_;
  std::uint16_t begin_[kSpanKinds] = {};  // id of the first event type that begins a span, by kind
  std::vector<SpanType> types_;
  std::vector<TypeIndex> small_[kSpanKinds];                        // by value
  std::unordered_map<std::uint64_t, TypeIndex> large_[kSpanKinds];  // by value, from kSmall on
  std::unordered_map<std::uint64_t, TypeIndex> named_;  // by the hash of the event's words
};

}  // namespace fkt
