// SPDX-License-Identifier: GPL-2.0-only
#include "lib/query/bound_expression.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "lib/base/parse.h"
#include "lib/base/suggest.h"
#include "lib/format/clocks.h"
#include "lib/format/ip_address.h"
#include "lib/query/comparison.h"

namespace fkt {
namespace {

constexpr std::size_t kIds = 1 << FKT_ID_BITS;

bool is_syscall_number(FieldType type) {
  return type == FieldType::syscall || type == FieldType::syscall32;
}

// Returns whether the field is a text or its values have names: it may be compared with a text.
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
    case FieldType::dev:
    case FieldType::stack:
    case FieldType::named:
    case FieldType::ip4:
    case FieldType::ip6:
    case FieldType::bytes:
      return true;
    case FieldType::s:
      return field.name == "ret";
    default:
      return false;
  }
}

// Adds the names that the event has by its key.
void add_key_names(const RecordingInfo& info, const EventType& type,
                   std::vector<std::string>& names) {
  const Field* const key = type.field(FieldUse::key);
  if (key == nullptr) return;
  if (const Catalogue::NameTable* const table = info.catalogue.names(*key)) {
    for (const auto& [value, name] : *table) names.push_back(name);
  }
  if (key->type != FieldType::addr) return;
  for (const Symbol& symbol : info.symbols.all()) names.emplace_back(symbol.name);
}

// Returns whether an event may have this name: one in `names`, or "sys_512", "sys_-1", "irq 14
// ide0".
bool may_be_name(std::string_view text, const std::vector<std::string>& names) {
  const std::string_view first = text.substr(0, text.find(' '));
  const auto is_it = [text](const std::string& name) { return is_meant(name, text); };
  if (std::ranges::any_of(names, is_it)) return true;
  if (first != text) return std::ranges::find(names, first) != names.end();
  for (const std::string_view prefix : {"sys_", "sys32_"}) {
    std::uint64_t number = 0;
    if (!text.starts_with(prefix)) continue;
    const std::string_view digits = text.substr(prefix.size());
    if (parse_number(digits.starts_with('-') ? digits.substr(1) : digits, number)) return true;
  }
  return false;
}

// Returns whether the text is "27", "27*" etc.
bool is_number_pattern(std::string_view text) {
  return text.find_first_of("0123456789") != text.npos &&
         text.find_first_not_of("0123456789*?") == text.npos;
}

}  // namespace

std::vector<std::string> event_names(const RecordingInfo& info) {
  std::vector<std::string> names;
  for (const EventType& type : info.catalogue.events()) {
    if (!type.fields.empty() && is_syscall_number(type.fields[0].type)) continue;
    names.push_back(type.name);
  }
  for (const EventType& type : info.catalogue.events()) {
    if (type.role != Role::end) add_key_names(info, type, names);
  }
  for (const auto& [number, name] : info.syscalls) names.push_back("sys_" + name);
  for (const auto& [number, name] : info.syscalls32) names.push_back("sys32_" + name);
  return names;
}

// Makes one node of a BoundExpression from each node of the expression.
class Binder {
 public:
  Binder(const Expression& expression, const RecordingInfo& info)
      : expression_(expression), info_(info) {}

  Result<BoundExpression> bind() {
    bound_.text_ = expression_.text();
    bound_.start_ = recording_start(info_);
    for (const ExpressionNode& source : expression_.nodes()) {
      BoundExpression::Node& node = bound_.nodes_.emplace_back();
      node.left = source.left;
      node.right = source.right;
      if (source.kind == ExpressionNode::Kind::conjunction) {
        node.kind = Kind::conjunction;
      } else if (source.kind == ExpressionNode::Kind::disjunction) {
        node.kind = Kind::disjunction;
      } else if (source.kind == ExpressionNode::Kind::negation) {
        node.kind = Kind::negation;
      } else if (const Status status = comparison(source, node); !status) {
        return status.error();
      }
    }
    FKT_TRY(check_bounds());
    return std::move(bound_);
  }

 private:
  using Kind = BoundExpression::Node::Kind;

  Status comparison(const ExpressionNode& source, BoundExpression::Node& node) {
    node.comparison = source.comparison;
    node.value = source.value;
    const std::string& field = source.field;
    if (field == "duration" || field == "ret") bound_.whole_spans_ = true;
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
    if (is_for_numbers(source.comparison)) {
      return wrong_value(source, "is a text: compare it with ==, !=, ~ or !~");
    }
    if (source.value.kind != Literal::Kind::text) {
      return wrong_value(source, "takes a text, in quotation marks");
    }
    return Done{};
  }

  Status time(const ExpressionNode& source, BoundExpression::Node& node) {
    if (source.value.kind == Literal::Kind::time) {
      const auto ticks = parse_duration(source.value.text, info_.clocks.ticks_per_second());
      if (!ticks) return at_column(source.value_column, ticks.error().message);
      node.value.number = *ticks;
    } else if (source.value.kind == Literal::Kind::text) {
      return wrong_value(source, "takes a time (as 250us, 1.5ms, 12000cycles)");
    }
    if (is_pattern(source.comparison)) return wrong_value(source, "is a time: it fits no pattern");
    return check_time_has_unit(source);
  }

  Status name(const ExpressionNode& source, BoundExpression::Node& node) {
    node.kind = Kind::name;
    node.slot = bound_.names_++;
    FKT_TRY(text(source));
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
    bound_.names_spans_ |= names_span(source);
    for (const EventType& type : info_.catalogue.events()) {
      if (type.role == Role::begin || type.role == Role::end) continue;
      if (const Field* const key = type.field(FieldUse::key)) name_key(source, type, *key, node);
    }
    return Done{};
  }

  bool names_span(const ExpressionNode& source) const {
    if (negates(source.comparison)) return false;
    const auto fits = [&](std::string_view name) {
      return same(source.comparison, name, source.value);
    };
    std::vector<std::string> names;
    for (const EventType& type : info_.catalogue.events()) {
      if (type.role == Role::end && fits(type.name)) return false;
      if (type.role != Role::begin) continue;
      names.push_back(type.name);
      add_key_names(info_, type, names);
    }
    for (const auto& [number, name] : info_.syscalls) names.push_back("sys_" + name);
    for (const auto& [number, name] : info_.syscalls32) names.push_back("sys32_" + name);
    return std::ranges::any_of(names, fits);
  }

  void name_key(const ExpressionNode& source, const EventType& type, const Field& key,
                BoundExpression::Node& node) const {
    const Catalogue::NameTable* const table = info_.catalogue.names(key);
    if (table == nullptr) return;
    BoundExpression::NamedKey named{type.id, &key, {}};
    for (const auto& [number, name] : *table) {
      if (same(source.comparison, name, source.value)) named.fitting.push_back(number);
    }
    if (!named.fitting.empty()) node.keys.push_back(std::move(named));
  }

  Status layer(const ExpressionNode& source, BoundExpression::Node& node) {
    node.kind = Kind::layer;
    if (source.value.kind == Literal::Kind::number && !is_pattern(source.comparison)) {
      for (std::uint64_t bit = 0; bit < 64; bit++) {
        if (compare(source.comparison, bit, false, source.value)) node.layers |= 1ULL << bit;
      }
      return Done{};
    }
    FKT_TRY(text(source));
    std::vector<std::string> names;
    for (const Layer& layer : info_.catalogue.layers()) {
      names.push_back(layer.name);
      if (compare(source.comparison, std::string_view(layer.name), source.value)) {
        node.layers |= 1ULL << layer.bit;
      }
    }
    if (!is_pattern(source.comparison) && info_.catalogue.layer(source.value.text) == nullptr) {
      return at_column(source.value_column, "no layer \"" + source.value.text + "\"" +
                                                did_you_mean(source.value.text, names));
    }
    return Done{};
  }

  Status state(const ExpressionNode& source, BoundExpression::Node& node) {
    node.kind = Kind::ids;
    FKT_TRY(text(source));
    ids(node, [&](const EventType& type) {
      const std::string_view state = NumberNames::switch_state(type.id);
      return !state.empty() && compare(source.comparison, state, source.value);
    });
    if (negates(source.comparison) || std::ranges::find(node.ids, true) != node.ids.end()) {
      return Done{};
    }
    std::set<std::string> states;
    for (const EventType& type : info_.catalogue.events()) {
      states.emplace(NumberNames::switch_state(type.id));
    }
    states.erase("");
    std::string all;
    for (const std::string& known : states) all += (all.empty() ? "" : ", ") + known;
    return at_column(source.value_column,
                     "no state \"" + source.value.text + "\": there are " + all);
  }

  // Returns an error when the comparisons of a field with numbers, joined by `and`, exclude each
  // other. Other contradictions are not found.
  Status check_bounds() const {
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> bounds;
    std::vector<std::size_t> open = {expression_.nodes().size() - 1};
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      const ExpressionNode& source = expression_.nodes()[at];
      if (source.kind == ExpressionNode::Kind::conjunction) {
        open.push_back(source.right);
        open.push_back(source.left);
      } else if (source.kind == ExpressionNode::Kind::comparison && has_bounds(at)) {
        const auto [place, fresh] =
            bounds.try_emplace(source.field, 0, std::numeric_limits<std::uint64_t>::max());
        if (narrow(bound_.nodes_[at], place->second)) continue;
        return at_column(source.field_column, "no event fits this and what stands before it");
      }
    }
    return Done{};
  }

  bool has_bounds(std::size_t at) const {
    const BoundExpression::Node& node = bound_.nodes_[at];
    const bool number = node.kind == Kind::time || node.kind == Kind::duration ||
                        node.kind == Kind::cpu || node.kind == Kind::pid;
    return number && !node.value.negative;
  }

  // Narrows `bounds` to the numbers for which the comparison is true. Returns false when none is
  // left.
  static bool narrow(const BoundExpression::Node& node,
                     std::pair<std::uint64_t, std::uint64_t>& bounds) {
    auto& [least, most] = bounds;
    const std::uint64_t value = node.value.number;
    const Comparison c = node.comparison;
    if (c == Comparison::less && value == 0) return false;
    if (c == Comparison::greater && value == std::numeric_limits<std::uint64_t>::max())
      return false;
    if (c == Comparison::less) most = std::min(most, value - 1);
    if (c == Comparison::less_equal || c == Comparison::equal) most = std::min(most, value);
    if (c == Comparison::greater) least = std::max(least, value + 1);
    if (c == Comparison::greater_equal || c == Comparison::equal) least = std::max(least, value);
    return least <= most;
  }

  template <class Fits>
  void ids(BoundExpression::Node& node, Fits is_one) {
    node.ids.resize(kIds);
    for (const EventType& type : info_.catalogue.events()) {
      node.ids[type.id & FKT_ID_MASK] = is_one(type);
    }
  }

  Status argument(const ExpressionNode& source, BoundExpression::Node& node) {
    node.kind = Kind::argument;
    node.by_id.resize(kIds);
    node.fields.push_back(nullptr);
    bool named = false, numbers = false, addresses_only = true;
    const auto look = [&](const Field& field) {
      named |= has_names(field);
      numbers |= field.type != FieldType::str && !is_bytes(field.type);
      addresses_only &= field.type == FieldType::ip4 || field.type == FieldType::ip6;
    };
    for (const EventType& type : info_.catalogue.events()) {
      for (const Field& field : type.fields) {
        if (field.name != source.field) continue;
        node.by_id[type.id & FKT_ID_MASK] = static_cast<std::uint16_t>(node.fields.size());
        node.fields.push_back(&field);
        look(field);
      }
      for (const KeyedFields& keyed : type.values) {
        for (const Field& field : keyed.fields) {
          if (field.name != source.field) continue;
          node.values.push_back(
              {type.id, keyed.first, keyed.last, type.field(FieldUse::key), &field});
          look(field);
        }
      }
    }
    if (node.fields.size() == 1 && node.values.empty()) return no_field(source);
    std::ranges::sort(node.values, {}, [](const BoundExpression::ValueField& value) {
      return std::pair(value.id, value.first);
    });
    if (source.value.kind == Literal::Kind::text && !named) {
      return wrong_value(source, "takes a number");
    }
    node.address = source.value;
    if (source.value.kind == Literal::Kind::text && !is_pattern(source.comparison)) {
      // An address has many spellings, of which events have one.
      const std::optional<std::string> known = canonical_address(source.value.text);
      if (known) node.address.text = *known;
      if (!known && addresses_only) {
        return wrong_value(source, "takes an address, as \"127.0.0.1\" or \"fe80::1\"");
      }
    }
    if (source.value.kind == Literal::Kind::text) {
      // Names of numbers begin with a letter: text with only digits was meant as the number.
      if (numbers && is_number_pattern(source.value.text)) {
        return wrong_value(source,
                           "is a number with a name: compare the number with == or <, "
                           "without quotation marks, and only the name with a text");
      }
      return text(source);
    }
    if (!numbers) return text(source);
    return number(source);
  }

  Error no_field(const ExpressionNode& source) const {
    std::vector<std::string> names = {"name", "layer", "cpu",  "pid",
                                      "task", "state", "time", "duration"};
    for (const EventType& type : info_.catalogue.events()) {
      for (const Field& field : type.fields) names.push_back(field.name);
      for (const KeyedFields& keyed : type.values) {
        for (const Field& field : keyed.fields) names.push_back(field.name);
      }
    }
    return at_column(source.field_column,
                     "no field \"" + source.field + "\"" + did_you_mean(source.field, names));
  }

  const Expression& expression_;
  const RecordingInfo& info_;
  BoundExpression bound_;
};

const Field* BoundExpression::field_of(const Node& node, const Event& event) {
  if (const Field* const field = node.fields[node.by_id[event.id & FKT_ID_MASK]]) return field;
  // Not equal_range(): clang 14 cannot compile the use of what it returns.
  const auto begin = std::ranges::lower_bound(node.values, event.id, {}, &ValueField::id);
  const auto end =
      std::ranges::upper_bound(begin, node.values.end(), event.id, {}, &ValueField::id);
  if (begin == end) return nullptr;
  const std::optional<std::uint64_t> key = EventType::value(*begin->key, event);
  if (!key) return nullptr;
  const auto behind = std::ranges::upper_bound(begin, end, *key, {}, &ValueField::first);
  if (behind == begin || std::prev(behind)->last < *key) return nullptr;
  return std::prev(behind)->field;
}

Result<BoundExpression> BoundExpression::bind(const Expression& expression,
                                              const RecordingInfo& info) {
  return Binder(expression, info).bind();
}

}  // namespace fkt
