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

struct SpanType {
  SpanKind kind = SpanKind::other;
  // Number of the call, interrupt, function etc.; of a kind without a key: the begin event's id.
  std::uint64_t value = 0;
  std::uint16_t event = 0;     // the id of the event that begins it
  std::string name;            // "sys_openat", "irq 14 ide0", "vector local_timer", "softirq RCU"
  bool never_returns = false;  // exit, exit_group, rt_sigreturn
  std::uint64_t named = 0;  // hash of the event's words when they name the device; 0: they do not
};

class SpanTypes {
 public:
  explicit SpanTypes(const RecordingInfo& info);

  // Returns the type of a span with this number (`value`), adding it when it is new.
  TypeIndex of(SpanKind kind, std::uint64_t value, std::uint16_t event) {
    const std::vector<TypeIndex>& small = small_[kind.number()];
    if (value < small.size() && small[value] != kNoType) return small[value];
    return add(kind, value, event, {});
  }
  // Returns the type, or kNoType when it is not known; only for values below
  // SpanKinds::Info::numbers.
  TypeIndex find(SpanKind kind, std::uint64_t value) const {
    const std::vector<TypeIndex>& small = small_[kind.number()];
    return value < small.size() ? small[value] : kNoType;
  }
  // Returns the type of an interrupt whose event carries the device's name: the same number with
  // another device is another type.
  TypeIndex named_irq(std::uint64_t number, const Event& event);

  // Returns the type of asynchronous spans with this name; event: the id of the event that begins
  // them.
  TypeIndex async(std::string_view name, std::uint16_t event);

  const SpanType& operator[](TypeIndex type) const { return types_[type]; }
  TypeIndex size() const { return static_cast<TypeIndex>(types_.size()); }
  const NumberNames& names() const { return names_; }
  const SpanKinds& kinds() const { return kinds_; }
  // Writes all types into the checkpoint.
  void save(Checkpoint& checkpoint) const;
  // Adds the checkpoint's types that are not known yet; returns the TypeIndex of each of the
  // checkpoint's types.
  std::vector<TypeIndex> restore(const Checkpoint& checkpoint);

 private:
  std::uint32_t numbers(SpanKind kind) const {
    return kind.number() < kinds_.size() ? kinds_[kind].numbers : 0;
  }
  SpanKind kind_of(const Checkpoint::Type& saved) const;
  TypeIndex known(const Checkpoint::Type& saved) const;
  void enter(TypeIndex index);
  TypeIndex add(SpanKind kind, std::uint64_t value, std::uint16_t event, std::string device);
  std::string name(const SpanType& type, std::string_view device) const;
  std::string name_by_key(const SpanType& type) const;

  NumberNames names_;
  const Symbols& symbols_;
  const Catalogue& catalogue_;
  SpanKinds kinds_;
  std::vector<SpanType> types_;
  // By kind, then by value: below SpanKinds::Info::numbers, and from there on.
  std::vector<std::vector<TypeIndex>> small_;
  std::vector<std::unordered_map<std::uint64_t, TypeIndex>> large_;
  std::unordered_map<std::uint64_t, TypeIndex> named_;  // by the hash of the event's words
};

}  // namespace fkt
