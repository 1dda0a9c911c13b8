// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/event_filter.h"

#include <algorithm>
#include <optional>

#include "lib/format/bytes_text.h"
#include "lib/format/ip_address.h"
#include "lib/format/stack_frames.h"
#include "lib/query/comparison.h"

namespace fkt {

void SpanMarks::set(std::uint64_t offset, bool on) {
  const std::uint64_t word = offset / sizeof(std::uint64_t);
  const std::uint64_t chunk = word / kChunkWords, bit = word % kChunkWords;
  if (chunk >= chunks_.size()) {
    if (!on) return;
    chunks_.resize(chunk + 1);
  }
  std::vector<std::uint64_t>& bits = chunks_[chunk];
  if (bits.empty()) {
    if (!on) return;
    bits.resize(kChunkWords / 64);
  }
  const std::uint64_t one = std::uint64_t{1} << bit % 64;
  bits[bit / 64] = on ? bits[bit / 64] | one : bits[bit / 64] & ~one;
}

FilterPass::FilterPass(const Filter& filter, SpanMarks* learn, const RecordingInfo& info,
                       const Tasks& tasks, SpanTracker& spans, const SpanTypes& types)
    : expression_(filter.expression),
      marks_(filter.spans),
      learn_(learn),
      info_(info),
      tasks_(tasks),
      spans_(spans),
      types_(types),
      by_type_(filter.expression.name_nodes()) {
  if (expression_.whole_spans()) spans.keep_entries();
}

bool FilterPass::selects(const Event& event, TaskIndex task) {
  const TypeIndex type = spans_.begins(event);
  if (!expression_.whole_spans()) return test({event, nullptr, type, task});
  const OpenSpan* span = type == kNoType ? spans_.ends(event, task) : nullptr;
  if (span != nullptr && span->before_cut) span = nullptr;  // its entry is not in the slice's file
  if (type == kNoType && span == nullptr) return test({event, nullptr, type, task});
  const Event& entry = span == nullptr ? event : span->entry;
  if (learn_ == nullptr) return marks_.test(entry.offset);
  const bool hit = span == nullptr
                       ? test({event, nullptr, type, task})
                       : test({entry, &event, span->type, task, spans_.ticks(event, *span)});
  learn_->set(entry.offset, hit);
  return hit;
}

bool FilterPass::test(const Node& node, const Subject& subject) {
  const Event& event = subject.event;
  switch (node.kind) {
    case Node::Kind::conjunction:
      return test(expression_.nodes()[node.left], subject) &&
             test(expression_.nodes()[node.right], subject);
    case Node::Kind::disjunction:
      return test(expression_.nodes()[node.left], subject) ||
             test(expression_.nodes()[node.right], subject);
    case Node::Kind::negation:
      return !test(expression_.nodes()[node.left], subject);
    case Node::Kind::ids:
      return node.ids[event.id & FKT_ID_MASK];
    case Node::Kind::layer: {
      const EventType* const type = info_.catalogue.find(event.id);
      return type != nullptr && (node.layers >> type->layer_of(event) & 1) != 0;
    }
    case Node::Kind::name:
      return name(node, subject);
    case Node::Kind::cpu:
      return compare(node.comparison, event.cpu, false, node.value);
    case Node::Kind::pid:
      return compare(node.comparison, event.pid, false, node.value);
    case Node::Kind::task:
      return compare(node.comparison, tasks_.name(subject.task), node.value);
    case Node::Kind::time: {
      const std::uint64_t since =
          event.clock > expression_.start() ? event.clock - expression_.start() : 0;
      return compare(node.comparison, since, false, node.value);
    }
    case Node::Kind::duration:
      return subject.exit != nullptr && compare(node.comparison, subject.ticks, false, node.value);
    case Node::Kind::argument:
      break;
  }
  bool has = false;
  const bool result = argument(node, event, has);
  if (has || subject.exit == nullptr) return result;
  return argument(node, *subject.exit, has);
}

// Of an event that is no span: its own name, or the one that its key gives it.
bool FilterPass::own_name(const Node& node, const Event& event) {
  for (const BoundExpression::NamedKey& named : node.keys) {
    if (named.id != event.id) continue;
    const std::optional<std::uint64_t> key = EventType::value(*named.key, event);
    if (key && std::ranges::binary_search(named.fitting, *key)) return !negates(node.comparison);
  }
  return node.ids[event.id & FKT_ID_MASK];
}

bool FilterPass::name(const Node& node, const Subject& subject) {
  if (subject.type == kNoType) return own_name(node, subject.event);
  std::vector<std::int8_t>& known = by_type_[node.slot];
  if (subject.type >= known.size()) known.resize(subject.type + 1, -1);
  std::int8_t& verdict = known[subject.type];
  if (verdict >= 0) return verdict != 0;
  const SpanType& type = types_[subject.type];
  bool found = same(node.comparison, type.name, node.value);
  // "softirq" selects "softirq RCU" and all other softirqs; a system call has only its own name.
  const EventType* event = info_.catalogue.find(subject.event.id);
  if (!is_syscall(type.kind) && event != nullptr) {
    found |= same(node.comparison, event->name, node.value);
  }
  verdict = found != negates(node.comparison);
  return verdict != 0;
}

std::string_view FilterPass::value_name(const Field& field, std::uint64_t value) const {
  const NumberNames& names = types_.names();
  switch (field.type) {
    case FieldType::tid: {
      if (value == 0) return tasks_.zero_name();
      const TaskIndex task = tasks_.find(static_cast<std::uint32_t>(value));
      return task == kNoTask ? std::string_view() : tasks_.name(task);
    }
    case FieldType::irq:
      return names.irq(value);
    case FieldType::vector:
      return NumberNames::vector(value);
    case FieldType::softirq:
      return NumberNames::softirq(value);
    case FieldType::trap:
      return NumberNames::trap(value);
    case FieldType::syscall:
    case FieldType::syscall32:
      return names.syscall(value, field.type == FieldType::syscall32);
    case FieldType::s:
      return field.name == "ret" ? NumberNames::error(static_cast<std::int64_t>(value))
                                 : std::string_view();
    case FieldType::addr: {
      const Symbol* symbol = info_.symbols.at(value);
      return symbol == nullptr ? std::string_view() : std::string_view(symbol->name);
    }
    default:
      return {};
  }
}

// Returns whether one of the stack's functions has the name.
bool FilterPass::has_function(const Field& field, const Event& event, const Node& node) const {
  bool is_innermost = true;
  for (const std::uint64_t address : frames_of(field, event, info_.symbols)) {
    const Symbol* const function = function_of(field, address, is_innermost, info_.symbols);
    if (function != nullptr && same(node.comparison, function->name, node.value)) return true;
    is_innermost = false;
  }
  return false;
}

// Sets `has` when the event has this argument and it can be compared with the node's value.
bool FilterPass::argument(const Node& node, const Event& event, bool& has) const {
  const Field* field = BoundExpression::field_of(node, event);
  if (field == nullptr) return false;
  if (field->type == FieldType::str) {
    has = node.value.kind == Literal::Kind::text;
    return has && compare(node.comparison, EventType::text_view(*field, event), node.value);
  }
  if (is_bytes(field->type)) {
    has = node.value.kind == Literal::Kind::text;
    return has && compare(node.comparison, std::string_view(bytes_text(*field, event)),
                          field->type == FieldType::ip6 ? node.address : node.value);
  }
  const std::optional<std::uint64_t> value = EventType::value(*field, event);
  if (!value) return false;
  if (node.value.kind == Literal::Kind::text && field->type == FieldType::ip4) {
    has = true;
    const std::string text = ip4_text(static_cast<std::uint32_t>(*value));
    return compare(node.comparison, std::string_view(text), node.address);
  }
  const bool is_named = field->type == FieldType::named || field->type == FieldType::dev;
  if (node.value.kind == Literal::Kind::text && is_named) {
    const std::string known = info_.catalogue.text(*field, *value);
    has = !known.empty();
    return has && compare(node.comparison, std::string_view(known), node.value);
  }
  if (field->type == FieldType::stack && node.value.kind == Literal::Kind::text) {
    has = true;
    return has_function(*field, event, node) != negates(node.comparison);
  }
  if (node.value.kind == Literal::Kind::text) {
    const std::string_view known = value_name(*field, *value);
    has = !known.empty();
    return has && compare(node.comparison, known, node.value);
  }
  has = true;
  return compare(node.comparison, *value,
                 is_signed(field->type) || info_.catalogue.is_signed(*field), node.value);
}

}  // namespace fkt
