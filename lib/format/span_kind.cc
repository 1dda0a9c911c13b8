// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/span_kind.h"

#include <algorithm>

#include "lib/format/catalogue.h"

namespace fkt {
namespace {

constexpr std::uint32_t kNumbers = 4096;  // in the flat table of a kind without names
constexpr std::uint64_t kMostNumbers = 1ULL
                                       << 22;  // in those of all kinds with a key of the file's own

}  // namespace

SpanKinds::SpanKinds(const Catalogue& catalogue) {
  kinds_ = {{SpanKind::syscall, "syscall"},
            {SpanKind::syscall32, "syscall"},
            {SpanKind::irq, "irq"},
            {SpanKind::vector, "vector"},
            {SpanKind::softirq, "softirq"}};
  for (const EventType& type : catalogue.events()) {
    if (type.role != Role::point) add(type, catalogue.nesting(type.kind));
  }
  find_keys(catalogue);
  set_numbers(catalogue);
}

void SpanKinds::add(const EventType& type, Nesting nests) {
  const auto known = std::ranges::find_if(kinds_, [&](const Info& info) {
    return info.name == type.kind && info.kind.nests() == nests;
  });
  if (known != kinds_.end()) {
    by_name_[type.kind] = known->kind;
    return;
  }
  const SpanKind kind = SpanKind::make(size(), nests);
  kinds_.push_back({kind, type.kind});
  by_name_[type.kind] = kind;
}

SpanKind SpanKinds::of(const EventType& type) const {
  const auto found = by_name_.find(type.kind);
  if (found == by_name_.end()) return SpanKind::other;  // a point
  if (found->second != SpanKind::syscall) return found->second;
  const Field* const number = key(type);
  const bool compat = number != nullptr && number->type == FieldType::syscall32;
  return compat ? SpanKind::syscall32 : SpanKind::syscall;
}

const Field* SpanKinds::key(const EventType& type) const {
  const auto found = by_name_.find(type.kind);
  if (found == by_name_.end()) return nullptr;
  const Info& info = kinds_[found->second.number()];
  const bool own = found->second.number() >= kOwnSpanKinds;
  if (own && info.key == nullptr) return nullptr;
  if (const Field* const marked = type.field(FieldUse::key)) return marked;
  // In files of older versions the number of a call or interrupt is the first field.
  return own || type.fields.empty() ? nullptr : &type.fields[0];
}

// A kind of the file's own has a key if every event that begins such a span has one: otherwise the
// numbers of the keys could be taken for ids of events.
void SpanKinds::find_keys(const Catalogue& catalogue) {
  std::vector<bool> without(kinds_.size());
  for (const EventType& type : catalogue.events()) {
    if (type.role != Role::begin) continue;
    Info& info = kinds_[of(type).number()];
    if (info.begin == 0) info.begin = type.id;
    if (info.kind.number() < kOwnSpanKinds) continue;
    const Field* const marked = type.field(FieldUse::key);
    without[info.kind.number()] = without[info.kind.number()] || marked == nullptr;
    if (info.key == nullptr) info.key = marked;
  }
  for (Info& info : kinds_) {
    if (without[info.kind.number()]) info.key = nullptr;
  }
}

void SpanKinds::set_numbers(const Catalogue& catalogue) {
  std::uint64_t left = kMostNumbers;
  for (Info& info : kinds_) {
    info.numbers = kNumbers;
    if (info.key == nullptr) continue;
    const Catalogue::NameTable* const names = catalogue.names(*info.key);
    std::uint64_t wanted = kNumbers;
    if (names != nullptr) wanted = std::max(wanted, names->rbegin()->first + 1);
    if (wanted > left) wanted = std::min<std::uint64_t>(kNumbers, left);
    info.numbers = static_cast<std::uint32_t>(wanted);
    left -= wanted;
  }
}

}  // namespace fkt
