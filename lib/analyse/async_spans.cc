// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/async_spans.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "lib/format/number_names.h"

namespace fkt {
namespace {

// Returns "request vda": the kind and what the span belongs to, by its name if it has one.
std::string lane_name(const KeyedAsync& async, const EventType& type, const Event& event,
                      const Catalogue& catalogue) {
  std::string name = async.kind;
  const Field* const lane = async.lane.empty() ? nullptr : type.field(event, async.lane);
  if (lane == nullptr) return name;
  if (lane->type == FieldType::str) {
    return name.append(1, ' ').append(EventType::text_view(*lane, event));
  }
  const std::uint64_t value = EventType::value(*lane, event).value_or(0);
  std::string known = catalogue.text(*lane, value);
  if (known.empty() && lane->type == FieldType::dev) known = NumberNames::device(value);
  return name.append(1, ' ').append(known.empty() ? std::to_string(value) : known);
}

}  // namespace

AsyncSpans::AsyncSpans(const Catalogue& catalogue)
    : catalogue_(&catalogue),
      any_(std::ranges::any_of(catalogue.events(),
                               [](const EventType& type) { return !type.async.empty(); })) {}

void AsyncSpans::apply(const Event& event, TaskIndex running, SpanTypes& types,
                       std::vector<Ended>& ended, SpanStep& step) {
  if (event.id == FKT_E_MASK || event.id == FKT_E_TABLE) return drop(ended);
  const EventType* const type = catalogue_->find(event.id);
  const KeyedAsync* const async = type == nullptr ? nullptr : type->async_of(event);
  const Field* const match = async == nullptr ? nullptr : type->field(event, async->match);
  const std::optional<std::uint64_t> value =
      match == nullptr ? std::nullopt : EventType::value(*match, event);
  if (!value) return;
  const Key key(async->kind, *value);
  const auto known = open_.find(key);
  if (known != open_.end()) {
    const AsyncSpan span = take(known);
    const bool seen = async->role == Role::end;
    ended.push_back({span, seen});
    if (seen) step.async = span.type;
    if (seen) step.async_duration = event.clock - std::min(event.clock, span.begin);
  }
  if (async->role == Role::begin) begin(event, *async, key, *type, running, types);
}

void AsyncSpans::begin(const Event& event, const KeyedAsync& async, const Key& key,
                       const EventType& type, TaskIndex running, SpanTypes& types) {
  AsyncSpan& span = open_[key];
  span.type = types.async(lane_name(async, type, event, *catalogue_), event.id);
  span.task = running;
  span.cpu = event.cpu;
  span.begin = event.clock;
  std::uint64_t& rows = rows_[span.type];
  span.row = static_cast<std::uint8_t>(std::countr_one(rows));
  if (span.row < AsyncSpan::kRows) rows |= std::uint64_t{1} << span.row;
}

AsyncSpan AsyncSpans::take(std::map<Key, AsyncSpan>::iterator at) {
  const AsyncSpan span = at->second;
  if (span.row < AsyncSpan::kRows) rows_[span.type] &= ~(std::uint64_t{1} << span.row);
  open_.erase(at);
  return span;
}

void AsyncSpans::drop(std::vector<Ended>& ended) {
  while (!open_.empty()) ended.push_back({take(open_.begin()), false});
}

}  // namespace fkt
