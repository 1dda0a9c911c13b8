// SPDX-License-Identifier: GPL-2.0-only
#include "lib/where.h"

#include <algorithm>
#include <optional>

#include "lib/clock.h"
#include "lib/parse.h"
#include "lib/suggest.h"

namespace fkt {
namespace {

constexpr std::size_t kIds = 1 << FKT_ID_BITS;

bool negates(Comparison c) {
  return c == Comparison::unequal || c == Comparison::unlike;
}
bool is_pattern(Comparison c) {
  return c == Comparison::like || c == Comparison::unlike;
}
bool orders(Comparison c) {
  return c >= Comparison::less && c <= Comparison::greater_equal;
}

// Does a text fit the value, leaving the operator's negation aside?
bool same(Comparison c, std::string_view text, const Literal& value) {
  return is_pattern(c) ? fits(text, value.text) : text == value.text;
}
bool compare(Comparison c, std::string_view text, const Literal& value) {
  return same(c, text, value) != negates(c);
}

// -1, 0, 1 for a value below, at, above the literal.
int order(std::uint64_t value, bool is_signed, const Literal& literal) {
  const bool below_zero = is_signed && static_cast<std::int64_t>(value) < 0;
  const bool literal_below = literal.negative && literal.number != 0;
  if (below_zero != literal_below) return below_zero ? -1 : 1;
  const std::uint64_t size = below_zero ? 0 - value : value;
  if (size == literal.number) return 0;
  return (size < literal.number) != below_zero ? -1 : 1;
}

bool compare(Comparison c, std::uint64_t value, bool is_signed, const Literal& literal) {
  const int at = order(value, is_signed, literal);
  switch (c) {
    case Comparison::equal:
      return at == 0;
    case Comparison::unequal:
      return at != 0;
    case Comparison::less:
      return at < 0;
    case Comparison::less_equal:
      return at <= 0;
    case Comparison::greater:
      return at > 0;
    case Comparison::greater_equal:
      return at >= 0;
    case Comparison::like:
    case Comparison::unlike:
      break;  // the binder refuses them
  }
  return false;
}

bool is_syscall_number(FieldType type) {
  return type == FieldType::syscall || type == FieldType::syscall32;
}

// Its values have names, or are texts: they may be compared with one.
bool has_names(const Field& field) {
  switch (field.type) {
    case FieldType::str:
    case FieldType::tid:
    case FieldType::irq:
    case FieldType::vector:
    case FieldType::softirq:
    case FieldType::trap:
    case FieldType::syscall:
    case FieldType::syscall32:
    case FieldType::addr:
      return true;
    case FieldType::s:
      return field.name == "ret";
    default:
      return false;
  }
}

// The names that events of this recording can have, as far as they are known without reading it.
std::vector<std::string> event_names(const TraceInfo& info) {
  std::vector<std::string> names;
  for (const EventType& type : info.catalogue.events()) {
    if (!type.fields.empty() && is_syscall_number(type.fields[0].type)) continue;
    names.push_back(type.name);
  }
  for (const auto& [number, name] : info.syscalls) names.push_back("sys_" + name);
  for (const auto& [number, name] : info.syscalls32) names.push_back("sys32_" + name);
  return names;
}

// "sys_512", "irq 14 ide0": not in a list, but they can be.
bool may_be_name(std::string_view text, const std::vector<std::string>& names) {
  const std::string_view first = text.substr(0, text.find(' '));
  if (std::ranges::find(names, text) != names.end()) return true;
  if (first != text) return std::ranges::find(names, first) != names.end();
  for (const std::string_view prefix : {"sys_", "sys32_"}) {
    std::uint64_t number = 0;
    if (text.starts_with(prefix) && parse_number(text.substr(prefix.size()), number)) return true;
  }
  return false;
}

}  // namespace

// Makes the nodes of a Where from those of the expression, one for one.
class Binder {
 public:
  Binder(const Expression& expression, const TraceInfo& info)
      : expression_(expression), info_(info) {}

  Result<Where> bind() {
    where_.text_ = expression_.text();
    where_.start_ = recording_start(info_);
    for (const ExpressionNode& source : expression_.nodes()) {
      Where::Node& node = where_.nodes_.emplace_back();
      node.left = source.left;
      node.right = source.right;
      if (source.kind == ExpressionNode::Kind::all) {
        node.kind = Kind::all;
      } else if (source.kind == ExpressionNode::Kind::any) {
        node.kind = Kind::any;
      } else if (source.kind == ExpressionNode::Kind::no) {
        node.kind = Kind::no;
      } else if (const Status status = comparison(source, node); !status) {
        return status.error();
      }
    }
    return std::move(where_);
  }

 private:
  using Kind = Where::Node::Kind;

  Status comparison(const ExpressionNode& source, Where::Node& node) {
    node.comparison = source.comparison;
    node.value = source.value;
    const std::string& field = source.field;
    if (field == "duration" || field == "ret") where_.whole_spans_ = true;
    if (field == "name") return name(source, node);
    if (field == "layer") return layer(source, node);
    if (field == "state") return state(source, node);
    if (field == "task") {
      node.kind = Kind::task;
      return text(source);
    }
    if (field == "time" || field == "duration") {
      node.kind = field == "time" ? Kind::time : Kind::duration;
      return time(source, node);
    }
    if (field == "cpu" || field == "pid") {
      node.kind = field == "cpu" ? Kind::cpu : Kind::pid;
      return number(source);
    }
    return argument(source, node);
  }

  static Error wrong_value(const ExpressionNode& source, const std::string& what) {
    return at_column(source.value_column, source.field + " " + what);
  }

  static Status number(const ExpressionNode& source) {
    if (source.value.kind != Literal::Kind::number) return wrong_value(source, "takes a number");
    if (is_pattern(source.comparison)) {
      return wrong_value(source, "is a number: it fits no pattern, compare it with == or <");
    }
    return Done{};
  }

  static Status text(const ExpressionNode& source) {
    if (orders(source.comparison)) {
      return wrong_value(source, "is a text: compare it with ==, !=, ~ or !~");
    }
    if (source.value.kind != Literal::Kind::text) {
      return wrong_value(source, "takes a text, in quotation marks");
    }
    return Done{};
  }

  Status time(const ExpressionNode& source, Where::Node& node) {
    if (source.value.kind == Literal::Kind::time) {
      const auto ticks = parse_duration(source.value.text, info_.clocks.ticks_per_second());
      if (!ticks) return at_column(source.value_column, ticks.error().message);
      node.value.number = *ticks;
    } else if (source.value.kind == Literal::Kind::text) {
      return wrong_value(source, "takes a time (as 250us, 1.5ms, 12000 cycles)");
    }
    if (is_pattern(source.comparison)) return wrong_value(source, "is a time: it fits no pattern");
    return Done{};
  }

  Status name(const ExpressionNode& source, Where::Node& node) {
    node.kind = Kind::name;
    node.slot = where_.names_++;
    if (const Status status = text(source); !status) return status.error();
    if (!is_pattern(source.comparison)) {
      const std::vector<std::string> names = event_names(info_);
      if (!may_be_name(source.value.text, names)) {
        return at_column(source.value_column, "no event \"" + source.value.text + "\"" +
                                                  did_you_mean(source.value.text, names));
      }
    }
    ids(node, [&](const EventType& type) {
      return compare(source.comparison, std::string_view(type.name), source.value);
    });
    return Done{};
  }

  Status layer(const ExpressionNode& source, Where::Node& node) {
    node.kind = Kind::ids;
    if (source.value.kind == Literal::Kind::number && !is_pattern(source.comparison)) {
      ids(node, [&](const EventType& type) {
        return compare(source.comparison, std::uint64_t{type.layer}, false, source.value);
      });
      return Done{};
    }
    if (const Status status = text(source); !status) return status.error();
    std::vector<std::string> names;
    for (const Layer& layer : info_.catalogue.layers()) names.push_back(layer.name);
    if (!is_pattern(source.comparison) && info_.catalogue.layer(source.value.text) == nullptr) {
      return at_column(source.value_column, "no layer \"" + source.value.text + "\"" +
                                                did_you_mean(source.value.text, names));
    }
    ids(node, [&](const EventType& type) {
      const Layer* layer = info_.catalogue.layer(type.layer);
      return layer != nullptr &&
             compare(source.comparison, std::string_view(layer->name), source.value);
    });
    return Done{};
  }

  Status state(const ExpressionNode& source, Where::Node& node) {
    node.kind = Kind::ids;
    if (const Status status = text(source); !status) return status.error();
    ids(node, [&](const EventType& type) {
      const std::string_view state = Names::switch_state(type.id);
      return !state.empty() && compare(source.comparison, state, source.value);
    });
    return Done{};
  }

  template <class Fits>
  void ids(Where::Node& node, Fits is_one) {
    node.ids.resize(kIds);
    for (const EventType& type : info_.catalogue.events()) {
      node.ids[type.id & FKT_ID_MASK] = is_one(type);
    }
  }

  Status argument(const ExpressionNode& source, Where::Node& node) {
    node.kind = Kind::argument;
    node.by_id.resize(kIds);
    node.fields.push_back(nullptr);
    bool named = false, numbers = false;
    for (const EventType& type : info_.catalogue.events()) {
      for (const Field& field : type.fields) {
        if (field.name != source.field) continue;
        node.by_id[type.id & FKT_ID_MASK] = static_cast<std::uint16_t>(node.fields.size());
        node.fields.push_back(&field);
        named |= has_names(field);
        numbers |= field.type != FieldType::str;
      }
    }
    if (node.fields.size() == 1) return no_field(source);
    if (source.value.kind == Literal::Kind::text && !named) {
      return wrong_value(source, "takes a number");
    }
    if (source.value.kind == Literal::Kind::text) return text(source);
    if (!numbers) return text(source);
    return number(source);
  }

  Error no_field(const ExpressionNode& source) const {
    std::vector<std::string> names = {"name", "layer", "cpu",  "pid",
                                      "task", "state", "time", "duration"};
    for (const EventType& type : info_.catalogue.events()) {
      for (const Field& field : type.fields) names.push_back(field.name);
    }
    return at_column(source.field_column,
                     "no field \"" + source.field + "\"" + did_you_mean(source.field, names));
  }

  const Expression& expression_;
  const TraceInfo& info_;
  Where where_;
};

Result<Where> Where::bind(const Expression& expression, const TraceInfo& info) {
  return Binder(expression, info).bind();
}

void Marks::set(std::uint64_t offset, bool on) {
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

Picker::Picker(const Choice& choice, Marks* learn, const TraceInfo& info, const Tasks& tasks,
               Spans& spans, const SpanTypes& types)
    : where_(choice.where),
      marks_(choice.spans),
      learn_(learn),
      info_(info),
      tasks_(tasks),
      spans_(spans),
      types_(types),
      by_type_(choice.where.names_) {
  if (where_.whole_spans()) spans.keep_entries();
}

bool Picker::picks(const Event& event, TaskIndex task) {
  const TypeIndex type = spans_.begins(event);
  if (!where_.whole_spans()) return test({event, nullptr, type, task});
  const OpenSpan* span = type == kNoType ? spans_.ends(event, task) : nullptr;
  if (span != nullptr && span->before_cut) span = nullptr;  // its entry is not in the file
  if (type == kNoType && span == nullptr) return test({event, nullptr, type, task});
  const Event& entry = span == nullptr ? event : span->entry;
  if (learn_ == nullptr) return marks_.test(entry.offset);
  const bool hit = span == nullptr ? test({event, nullptr, type, task})
                                   : test({entry, &event, span->type, task});
  learn_->set(entry.offset, hit);
  return hit;
}

bool Picker::test(const Node& node, const Subject& subject) {
  const Event& event = subject.event;
  switch (node.kind) {
    case Node::Kind::all:
      return test(where_.nodes_[node.left], subject) && test(where_.nodes_[node.right], subject);
    case Node::Kind::any:
      return test(where_.nodes_[node.left], subject) || test(where_.nodes_[node.right], subject);
    case Node::Kind::no:
      return !test(where_.nodes_[node.left], subject);
    case Node::Kind::ids:
      return node.ids[event.id & FKT_ID_MASK];
    case Node::Kind::name:
      return name(node, subject);
    case Node::Kind::cpu:
      return compare(node.comparison, event.cpu, false, node.value);
    case Node::Kind::pid:
      return compare(node.comparison, event.pid, false, node.value);
    case Node::Kind::task:
      return compare(node.comparison, tasks_.name(subject.task), node.value);
    case Node::Kind::time: {
      const std::uint64_t since = event.clock > where_.start_ ? event.clock - where_.start_ : 0;
      return compare(node.comparison, since, false, node.value);
    }
    case Node::Kind::duration:
      return subject.exit != nullptr &&
             compare(node.comparison, subject.exit->clock - event.clock, false, node.value);
    case Node::Kind::argument:
      break;
  }
  bool has = false;
  const bool result = argument(node, event, has);
  if (has || subject.exit == nullptr) return result;
  return argument(node, *subject.exit, has);
}

bool Picker::name(const Node& node, const Subject& subject) {
  if (subject.type == kNoType) return node.ids[subject.event.id & FKT_ID_MASK];
  std::vector<std::int8_t>& known = by_type_[node.slot];
  if (subject.type >= known.size()) known.resize(subject.type + 1, -1);
  std::int8_t& verdict = known[subject.type];
  if (verdict >= 0) return verdict != 0;
  const SpanType& type = types_[subject.type];
  bool found = same(node.comparison, type.name, node.value);
  // "softirq" is each "softirq RCU"; but a system call is its number's name alone.
  const EventType* event = info_.catalogue.find(subject.event.id);
  if (!is_syscall(type.kind) && event != nullptr) {
    found |= same(node.comparison, event->name, node.value);
  }
  verdict = found != negates(node.comparison);
  return verdict != 0;
}

std::string_view Picker::value_name(const Field& field, std::uint64_t value) const {
  const Names& names = types_.names();
  switch (field.type) {
    case FieldType::tid: {
      if (value == 0) return "idle";
      const TaskIndex task = tasks_.find(static_cast<std::uint32_t>(value));
      return task == kNoTask ? std::string_view() : tasks_.name(task);
    }
    case FieldType::irq:
      return names.irq(value);
    case FieldType::vector:
      return Names::vector(value);
    case FieldType::softirq:
      return Names::softirq(value);
    case FieldType::trap:
      return Names::trap(value);
    case FieldType::syscall:
    case FieldType::syscall32:
      return names.syscall(value, field.type == FieldType::syscall32);
    case FieldType::s:
      return field.name == "ret" ? Names::error(static_cast<std::int64_t>(value))
                                 : std::string_view();
    case FieldType::addr: {
      const Symbol* symbol = info_.symbols.at(value);
      return symbol == nullptr ? std::string_view() : std::string_view(symbol->name);
    }
    default:
      return {};
  }
}

// `has`: the event has such an argument, of the value's kind.
bool Picker::argument(const Node& node, const Event& event, bool& has) const {
  const Field* field = node.fields[node.by_id[event.id & FKT_ID_MASK]];
  if (field == nullptr) return false;
  if (field->type == FieldType::str) {
    has = node.value.kind == Literal::Kind::text;
    return has && compare(node.comparison, EventType::text_view(*field, event), node.value);
  }
  const std::optional<std::uint64_t> value = EventType::value(*field, event);
  if (!value) return false;
  if (node.value.kind == Literal::Kind::text) {
    const std::string_view known = value_name(*field, *value);
    has = !known.empty();
    return has && compare(node.comparison, known, node.value);
  }
  has = true;
  return compare(node.comparison, *value, field->type == FieldType::s, node.value);
}

}  // namespace fkt
