// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/span_types.h"

#include "lib/base/text_writer.h"

namespace fkt {
namespace {

constexpr std::uint64_t kHashFactor = 0xff51afd7ed558ccd;

bool never_returns(const SpanType& type) {
  if (!is_syscall(type.kind)) return false;
  const std::string_view bare = std::string_view(type.name).substr(type.name.find('_') + 1);
  return bare == "exit" || bare == "exit_group" || bare == "rt_sigreturn" || bare == "sigreturn";
}

}  // namespace

SpanKind span_kind(const EventType& type) {
  if (type.kind == "syscall") {
    const bool compat = !type.fields.empty() && type.fields[0].type == FieldType::syscall32;
    return compat ? SpanKind::syscall32 : SpanKind::syscall;
  }
  if (type.kind == "irq") return SpanKind::irq;
  if (type.kind == "vector") return SpanKind::vector;
  if (type.kind == "softirq") return SpanKind::softirq;
  return SpanKind::other;
}

SpanTypes::SpanTypes(const TraceInfo& info) : names_(info), catalogue_(info.catalogue) {
  for (const EventType& type : catalogue_.events()) {
    std::uint16_t& begin = begin_[static_cast<std::size_t>(span_kind(type))];
    if (type.role == Role::begin && begin == 0) begin = type.id;
  }
  if (info.checkpoint) restore(*info.checkpoint);
}

void SpanTypes::save(Checkpoint& checkpoint) const {
  for (const SpanType& type : types_) {
    checkpoint.types.push_back(
        {static_cast<std::uint8_t>(type.kind), type.event, type.value, type.named, type.name});
  }
}

TypeIndex SpanTypes::known(const Checkpoint::Type& saved) const {
  const auto in = [](const auto& table, std::uint64_t key) {
    const auto found = table.find(key);
    return found == table.end() ? kNoType : found->second;
  };
  const std::vector<TypeIndex>& small = small_[saved.kind];
  const TypeIndex found = saved.named != 0             ? in(named_, saved.named)
                          : saved.value >= kSmall      ? in(large_[saved.kind], saved.value)
                          : saved.value < small.size() ? small[saved.value]
                                                       : kNoType;
  // In a damaged checkpoint, a type of another kind may have the same hash.
  const bool same = found != kNoType && types_[found].kind == static_cast<SpanKind>(saved.kind);
  return same ? found : kNoType;
}

std::vector<TypeIndex> SpanTypes::restore(const Checkpoint& checkpoint) {
  std::vector<TypeIndex> places;
  const bool first = types_.empty();  // each line becomes its own type, also if two are equal
  for (const Checkpoint::Type& saved : checkpoint.types) {
    const TypeIndex before = first ? kNoType : known(saved);
    places.push_back(before != kNoType ? before : size());
    if (before != kNoType) continue;
    TextWriter safe;
    safe.escaped(saved.name);
    SpanType& type = types_.emplace_back();
    type.kind = static_cast<SpanKind>(saved.kind);
    type.value = saved.value;
    type.event = saved.event;
    type.name = safe.view();
    type.named = saved.named;
    type.never_returns = never_returns(type);
    enter(size() - 1);
  }
  return places;
}

// Enters the type into the table in which it is looked up: by its number or by its words' hash.
void SpanTypes::enter(TypeIndex index) {
  const SpanType& type = types_[index];
  const auto slot = static_cast<std::size_t>(type.kind);
  if (type.named != 0) {
    named_[type.named] = index;
  } else if (type.value >= kSmall) {
    large_[slot][type.value] = index;
  } else {
    if (type.value >= small_[slot].size()) small_[slot].resize(type.value + 1, kNoType);
    small_[slot][type.value] = index;
  }
}

std::string SpanTypes::name(SpanKind kind, std::uint64_t value, std::string_view device) const {
  const auto or_number = [value](std::string_view known, std::string_view prefix) {
    return known.empty() ? std::string(prefix) + std::to_string(value) : std::string(known);
  };
  switch (kind) {
    case SpanKind::syscall:
    case SpanKind::syscall32: {
      const bool compat = kind == SpanKind::syscall32;
      const std::string_view known = names_.syscall(value, compat);
      return known.empty() ? NumberNames::syscall_number(value, compat) : std::string(known);
    }
    case SpanKind::vector:
      return "vector " + or_number(names_.vector(value), "");
    case SpanKind::softirq:
      return "softirq " + or_number(names_.softirq(value), "");
    case SpanKind::irq: {
      if (device.empty()) device = names_.irq(value);
      return "irq " + std::to_string(value) + (device.empty() ? "" : " " + std::string(device));
    }
    case SpanKind::other:
      break;
  }
  const EventType* type = catalogue_.find(static_cast<std::uint16_t>(value));
  return type != nullptr ? type->name : "event " + std::to_string(value);
}

TypeIndex SpanTypes::add(SpanKind kind, std::uint64_t value, std::uint16_t event,
                         std::string device) {
  const auto slot = static_cast<std::size_t>(kind);
  if (device.empty() && value >= kSmall) {
    const auto found = large_[slot].find(value);
    if (found != large_[slot].end()) return found->second;
  }
  const TypeIndex index = size();
  SpanType& type = types_.emplace_back();
  type.kind = kind;
  type.value = value;
  // An exit without entry may be the first event of the type: its code is that of the begin event.
  type.event = begin_[slot] != 0 && kind != SpanKind::other ? begin_[slot] : event;
  TextWriter safe;  // names come from the file and may be printed on a terminal
  safe.escaped(name(kind, value, device));
  type.name = safe.view();
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

}  // namespace fkt
