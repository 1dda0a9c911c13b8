// SPDX-License-Identifier: GPL-2.0-only
// The types of spans (one per system call, interrupt line, vector, softirq ...) under small
// numbers, so that nothing is looked up by name while events run past.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/names.h"

namespace fkt {

using TypeIndex = std::uint32_t;
inline constexpr TypeIndex kNoType = ~TypeIndex{0};

enum class SpanKind : std::uint8_t { syscall, syscall32, irq, vector, softirq, other };
inline constexpr std::size_t kSpanKinds = 6;

// Nests on its CPU, not on its task.
constexpr bool on_cpu(SpanKind kind) {
  return kind == SpanKind::irq || kind == SpanKind::vector || kind == SpanKind::softirq;
}
constexpr bool is_syscall(SpanKind kind) {
  return kind == SpanKind::syscall || kind == SpanKind::syscall32;
}

// What an event that begins or ends something says of it.
SpanKind span_kind(const EventType& type);

struct SpanType {
  SpanKind kind = SpanKind::other;
  std::uint64_t value = 0;     // system call's, interrupt's ... number; other: the begin event's id
  std::uint16_t event = 0;     // the id of the event that begins it
  std::string name;            // "sys_openat", "irq 14 ide0", "vector local_timer", "softirq RCU"
  bool never_returns = false;  // exit, exit_group, rt_sigreturn
  std::uint64_t named = 0;     // the hash of the words that bring its device along; 0: none do
};

class SpanTypes {
 public:
  static constexpr std::uint64_t kSmall = 4096;  // numbers below are found in a flat table

  explicit SpanTypes(const TraceInfo& info);

  TypeIndex of(SpanKind kind, std::uint64_t value, std::uint16_t event) {
    auto& small = small_[static_cast<std::size_t>(kind)];
    if (value < small.size() && small[value] != kNoType) return small[value];
    return add(kind, value, event, {});
  }
  // The same for looking only, of numbers below kSmall: kNoType where none is known.
  TypeIndex find(SpanKind kind, std::uint64_t value) const {
    const auto& small = small_[static_cast<std::size_t>(kind)];
    return value < small.size() ? small[value] : kNoType;
  }
  // An interrupt whose event brings its device's name along: the words tell one from another.
  TypeIndex named_irq(std::uint64_t number, const Event& event);

  const SpanType& operator[](TypeIndex type) const { return types_[type]; }
  TypeIndex size() const { return static_cast<TypeIndex>(types_.size()); }
  const Names& names() const { return names_; }
  // Writes the types of the cut's stacks.
  void save(Cut& cut) const;
  // Adds those of a cut that are not there yet; returns all by their numbers in it.
  std::vector<TypeIndex> restore(const Cut& cut);

 private:
  TypeIndex known(const Cut::Type& saved) const;
  void enter(TypeIndex index);
  TypeIndex add(SpanKind kind, std::uint64_t value, std::uint16_t event, std::string device);
  std::string name(SpanKind kind, std::uint64_t value, std::string_view device) const;

  Names names_;
  const Catalogue& catalogue_;
  std::uint16_t begin_[kSpanKinds] = {};  // the first event that begins one
  std::vector<SpanType> types_;
  std::vector<TypeIndex> small_[kSpanKinds];                        // by value
  std::unordered_map<std::uint64_t, TypeIndex> large_[kSpanKinds];  // values that fit no table
  std::unordered_map<std::uint64_t, TypeIndex> named_;              // by their words' hash
};

}  // namespace fkt
