// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/span_types.h"

#include <algorithm>

#include <fmt/core.h>

#include "lib/base/text.h"

namespace fkt {
namespace {

constexpr std::uint64_t kHashFactor = 0xff51afd7ed558ccd;

bool never_returns(const SpanType& type) {
  if (!is_syscall(type.kind)) return false;
  const std::string_view bare = std::string_view(type.name).substr(type.name.find('_') + 1);
  return bare == "exit" || bare == "exit_group" || bare == "rt_sigreturn" || bare == "sigreturn";
}

}  // namespace

SpanTypes::SpanTypes(const RecordingInfo& info)
    : names_(info), symbols_(info.symbols), catalogue_(info.catalogue), kinds_(info.catalogue) {
  // Also for SpanKind::other, which a checkpoint may have without an event of such a kind.
  const std::size_t kinds = std::max<std::size_t>(kinds_.size(), kOwnSpanKinds + 1);
  small_.resize(kinds);
  large_.resize(kinds);
  if (info.checkpoint) restore(*info.checkpoint);
}

void SpanTypes::save(Checkpoint& checkpoint) const {
  for (const SpanType& type : types_) {
    const auto kind =
        static_cast<std::uint8_t>(std::min(type.kind.number(), SpanKind::other.number()));
    checkpoint.types.push_back({kind, type.event, type.value, type.named, type.name});
  }
}

// The event tells kinds of the file's own apart.
SpanKind SpanTypes::kind_of(const Checkpoint::Type& saved) const {
  if (saved.kind < kOwnSpanKinds) return kinds_.info(saved.kind).kind;
  const EventType* const event = catalogue_.find(saved.event);
  return event == nullptr ? SpanKind::other : kinds_.of(*event);
}

TypeIndex SpanTypes::known(const Checkpoint::Type& saved) const {
  const auto in = [](const auto& table, std::uint64_t key) {
    const auto found = table.find(key);
    return found == table.end() ? kNoType : found->second;
  };
  const SpanKind kind = kind_of(saved);
  const std::vector<TypeIndex>& small = small_[kind.number()];
  const TypeIndex found = saved.named != 0               ? in(named_, saved.named)
                          : saved.value >= numbers(kind) ? in(large_[kind.number()], saved.value)
                          : saved.value < small.size()   ? small[saved.value]
                                                         : kNoType;
  // In a damaged checkpoint, a type of another kind may have the same hash.
  const bool same = found != kNoType && types_[found].kind == kind;
  return same ? found : kNoType;
}

std::vector<TypeIndex> SpanTypes::restore(const Checkpoint& checkpoint) {
  std::vector<TypeIndex> places;
  const bool first = types_.empty();  // each line becomes its own type, also if two are equal
  for (const Checkpoint::Type& saved : checkpoint.types) {
    const TypeIndex before = first ? kNoType : known(saved);
    places.push_back(before != kNoType ? before : size());
    if (before != kNoType) continue;
    SpanType& type = types_.emplace_back();
    type.kind = kind_of(saved);
    type.value = saved.value;
    type.event = saved.event;
    type.name = saved.name;
    type.named = saved.named;
    type.never_returns = never_returns(type);
    enter(size() - 1);
  }
  return places;
}

// Enters the type into the table in which it is looked up: by its number or by its words' hash.
void SpanTypes::enter(TypeIndex index) {
  const SpanType& type = types_[index];
  const std::size_t slot = type.kind.number();
  if (type.named != 0) {
    named_[type.named] = index;
  } else if (type.value >= numbers(type.kind)) {
    large_[slot][type.value] = index;
  } else {
    if (type.value >= small_[slot].size()) small_[slot].resize(type.value + 1, kNoType);
    small_[slot][type.value] = index;
  }
}

std::string SpanTypes::name(const SpanType& type, std::string_view device) const {
  const std::uint64_t value = type.value;
  const auto or_number = [value](std::string_view known) {
    return known.empty() ? std::to_string(value) : std::string(known);
  };
  if (type.kind == SpanKind::syscall || type.kind == SpanKind::syscall32) {
    const bool compat = type.kind == SpanKind::syscall32;
    const std::string_view known = names_.syscall(value, compat);
    return known.empty() ? NumberNames::syscall_number(value, compat) : std::string(known);
  }
  if (type.kind == SpanKind::vector) return "vector " + or_number(NumberNames::vector(value));
  if (type.kind == SpanKind::softirq) return "softirq " + or_number(NumberNames::softirq(value));
  if (type.kind == SpanKind::irq) {
    if (device.empty()) device = names_.irq(value);
    return fmt::format("irq {}{}", value, device.empty() ? "" : " " + std::string(device));
  }
  return name_by_key(type);
}

// Returns the name of a type whose kind only the file's catalogue knows: the name of its key, or
// the event's name with the key's number, or without a key the event's name.
std::string SpanTypes::name_by_key(const SpanType& type) const {
  const Field* const key = kinds_[type.kind].key;
  const auto id = key != nullptr ? type.event : static_cast<std::uint16_t>(type.value);
  const EventType* const event = catalogue_.find(id);
  if (event == nullptr) return fmt::format("event {}", type.value);
  if (key == nullptr) return event->name;
  std::string_view known;
  if (key->type == FieldType::named) known = catalogue_.name(*key, type.value);
  if (key->type == FieldType::trap) known = NumberNames::trap(type.value);
  if (key->type == FieldType::addr && symbols_.at(type.value) != nullptr) {
    return symbols_.name(type.value);
  }
  if (!known.empty()) return std::string(known);
  const bool address = key->type == FieldType::addr || key->type == FieldType::uaddr;
  return event->name + ' ' + (address ? hex(type.value) : std::to_string(type.value));
}

TypeIndex SpanTypes::add(SpanKind kind, std::uint64_t value, std::uint16_t event,
                         std::string device) {
  const std::size_t slot = kind.number();
  if (device.empty() && value >= numbers(kind)) {
    const auto found = large_[slot].find(value);
    if (found != large_[slot].end()) return found->second;
  }
  const TypeIndex index = size();
  SpanType& type = types_.emplace_back();
  type.kind = kind;
  type.value = value;
  // An exit without entry may be the first event of the type: its code is that of the begin event.
  const SpanKinds::Info& info = kinds_[kind];
  const bool by_number = slot < kOwnSpanKinds || info.key != nullptr;
  type.event = info.begin != 0 && by_number ? info.begin : event;
  type.name = name(type, device);
  type.never_returns = never_returns(type);
  if (device.empty()) enter(index);
  return index;
}

TypeIndex SpanTypes::named_irq(std::uint64_t number, const Event& event) {
  std::uint64_t hash = number;
  for (const std::uint64_t word : event.words) hash = (hash ^ word ^ hash >> 29) * kHashFactor;
  if (const auto known = named_.find(hash); known != named_.end()) return known->second;
  std::string device;
  if (const EventType* type = catalogue_.find(event.id)) {
    for (const Field& field : type->fields) {
      if (field.type == FieldType::str) device = EventType::text(field, event);
    }
  }
  if (device.empty()) return named_[hash] = of(SpanKind::irq, number, event.id);
  const TypeIndex index = add(SpanKind::irq, number, event.id, std::move(device));
  types_[index].named = hash;
  enter(index);
  return index;
}

// Asynchronous spans are told apart by their names alone.
TypeIndex SpanTypes::async(std::string_view name, std::uint16_t event) {
  std::uint64_t hash = kHashFactor;
  for (const char c : name)
    hash = (hash ^ static_cast<unsigned char>(c) ^ hash >> 29) * kHashFactor;
  if (const auto known = named_.find(hash); known != named_.end()) return known->second;
  SpanType& type = types_.emplace_back();
  type.event = event;
  type.name = name;
  type.named = hash;
  enter(size() - 1);
  return size() - 1;
}

}  // namespace fkt
