// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/condition_compiler.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "lib/format/catalogue.h"
#include "lib/format/clocks.h"
#include "lib/format/number_names.h"
#include "lib/query/bound_expression.h"
#include "lib/query/comparison.h"

namespace fkt {
namespace {

bool is_call(const EventType& type) {
  return type.kind == "syscall";
}

// Returns the TraceInfo of a recording made on this machine, with only the names and the clock.
TraceInfo live_info(double ticks_per_second) {
  TraceInfo info;
  info.catalogue = Catalogue::builtin();
  info.clocks.khz = static_cast<std::uint64_t>(ticks_per_second / 1000);
#define FKT_SYSCALL(abi, number, name) \
  (std::string_view(#abi) == "64" ? info.syscalls : info.syscalls32)[number] = #name;
#include "lib/format/syscalls.def"
  return info;
}

std::string call_name(const char* prefix, const std::map<std::uint32_t, std::string>& names,
                      std::uint32_t number) {
  const auto found = names.find(number);
  return prefix + (found == names.end() ? std::to_string(number) : found->second);
}

// Returns the name of an id of fkt_condition_set; nothing when it is no event's.
std::optional<std::string> name_of(const TraceInfo& info, std::uint32_t id) {
  if (id >= FKT_P_SYSCALL32) return call_name("sys32_", info.syscalls32, id - FKT_P_SYSCALL32);
  if (id >= FKT_P_SYSCALL) return call_name("sys_", info.syscalls, id - FKT_P_SYSCALL);
  const EventType* type = info.catalogue.find(static_cast<std::uint16_t>(id));
  if (type == nullptr || is_call(*type)) return std::nullopt;
  return type->name;
}

void insert(fkt_condition_set& set, std::uint32_t id) {
  set.bits[id / 64] |= std::uint64_t{1} << id % 64;
}

std::int64_t signed_value(const Literal& value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto number = static_cast<std::int64_t>(std::min(value.number, kMost));
  return value.negative ? -number : number;
}

fkt_condition_compare compare_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::equal:
      return FKT_CONDITION_EQ;
    case Comparison::less:
      return FKT_CONDITION_LT;
    case Comparison::less_equal:
      return FKT_CONDITION_LE;
    case Comparison::greater:
      return FKT_CONDITION_GT;
    case Comparison::greater_equal:
      return FKT_CONDITION_GE;
    default:
      return FKT_CONDITION_NE;
  }
}

}  // namespace

// Writes the expression as operations in postfix order. In nodes(), operands are before their
// operator but not next to each other, so the tree is walked.
class ConditionCompiler {
 public:
  ConditionCompiler(const Expression& expression, const ConditionContext& context)
      : expression_(expression), context_(context), info_(live_info(context.ticks_per_second)) {}

  Result<fkt_condition> compile() {
    // Report first what is wrong with any expression.
    FKT_TRY(BoundExpression::bind(expression_, info_));
    when_.tids = context_.tids;
    FKT_TRY(write(static_cast<std::uint32_t>(expression_.nodes().size() - 1)));
    return watch();
  }

 private:
  using Kind = ExpressionNode::Kind;

  Status write(std::uint32_t index) {
    const ExpressionNode& node = expression_.nodes()[index];
    if (node.kind == Kind::comparison) return comparison(node);
    Status written = write(node.left);
    if (written && node.kind != Kind::negation) written = write(node.right);
    if (!written) return written;
    const fkt_condition_what what = node.kind == Kind::conjunction   ? FKT_CONDITION_AND
                                    : node.kind == Kind::disjunction ? FKT_CONDITION_OR
                                                                     : FKT_CONDITION_NOT;
    return add(what);
  }

  Status add(fkt_condition_what what, std::uint16_t index = 0) {
    return add(what, FKT_CONDITION_EQ, 0, index);
  }
  Status add(fkt_condition_what what, fkt_condition_compare compare, std::int64_t value,
             std::uint16_t index = 0) {
    if (when_.ops == FKT_CONDITION_OPS)
      return too_much("comparisons and operators", FKT_CONDITION_OPS);
    when_.op[when_.ops++] = {static_cast<std::uint8_t>(what), static_cast<std::uint8_t>(compare),
                             index, 0, value};
    return Done{};
  }

  static Error too_much(const char* what, unsigned most) {
    return {ErrorCode::usage,
            fmt::format("too long to be checked while recording: at most {} {}", most, what)};
  }

  Status comparison(const ExpressionNode& node) {
    if (node.field == "name") return name(node);
    if (node.field == "task") return task(node);
    if (node.field == "cpu") return number(node, FKT_CONDITION_CPU);
    if (node.field == "pid") return number(node, FKT_CONDITION_PID);
    if (node.field == "ret") return number(node, FKT_CONDITION_RET);
    if (node.field == "duration") return duration(node);
    return at_column(node.field_column, "\"" + node.field +
                                            "\" cannot be checked while recording: name, "
                                            "duration, ret, cpu, pid and task can");
  }

  Status number(const ExpressionNode& node, fkt_condition_what what) {
    if (node.value.kind != Literal::Kind::number || is_pattern(node.comparison)) {
      return at_column(node.value_column,
                       node.field + " takes a number here (as 3, -2 or -ENOENT)");
    }
    return add(what, compare_of(node.comparison), signed_value(node.value));
  }

  Status duration(const ExpressionNode& node) {
    FKT_TRY(check_time_has_unit(node));
    std::uint64_t ticks = node.value.number;
    if (node.value.kind == Literal::Kind::time) {
      const auto parsed = parse_duration(node.value.text, context_.ticks_per_second);
      if (!parsed) return at_column(node.value_column, parsed.error().message);
      ticks = *parsed;
    }
    Literal value;
    value.number = ticks;
    return add(FKT_CONDITION_DURATION, compare_of(node.comparison), signed_value(value));
  }

  Status task(const ExpressionNode& node) {
    const std::string& text = node.value.text;
    if (texts_ == FKT_CONDITION_TEXTS) return too_much("names of tasks", FKT_CONDITION_TEXTS);
    if (text.size() >= FKT_CONDITION_TEXT_BYTES) {
      return at_column(node.value_column, "no task has so long a name");
    }
    if (!is_pattern(node.comparison) && text.find_first_of("*?") != text.npos) {
      return at_column(node.value_column, "only ~ and !~ take * and ? here");
    }
    std::ranges::copy(text, when_.text[texts_]);
    const Status added = add(FKT_CONDITION_TASK, texts_++);
    if (!added || !negates(node.comparison)) return added;
    return add(FKT_CONDITION_NOT);
  }

  Status name(const ExpressionNode& node) {
    if (sets_ == FKT_CONDITION_SETS) return too_much("names of events", FKT_CONDITION_SETS);
    fkt_condition_set& set = when_.set[sets_];
    bool any = false;
    for (std::uint32_t id = 0; id < FKT_CONDITION_IDS; id++) {
      const std::optional<std::string> known = name_of(info_, id);
      if (!known) continue;
      const bool fits = same(node.comparison, *known, node.value);
      any |= fits;
      if (fits != negates(node.comparison)) insert(set, id);
      if (fits && !negates(node.comparison)) insert(asked_for_, id);
    }
    if (!any) {
      return at_column(node.value_column, "\"" + node.value.text +
                                              "\" is no event that can be checked while recording");
    }
    return add(FKT_CONDITION_NAME, sets_++);
  }

  // Returns whether the condition can have the value `wanted` for an event with this id; tests that
  // do not depend on the id can have both values.
  bool possible(std::uint32_t index, std::uint32_t id, bool wanted) {
    const ExpressionNode& node = expression_.nodes()[index];
    const auto side = [&](std::uint32_t operand) { return possible(operand, id, wanted); };
    if (node.kind == Kind::negation) return possible(node.left, id, !wanted);
    if (node.kind == Kind::comparison) return test_possible(node, id, wanted);
    const bool both = (node.kind == Kind::conjunction) == wanted;
    return both ? side(node.left) && side(node.right) : side(node.left) || side(node.right);
  }

  bool test_possible(const ExpressionNode& node, std::uint32_t id, bool wanted) const {
    if (node.field == "name") {
      const std::optional<std::string> known = name_of(info_, id);
      return known && compare(node.comparison, *known, node.value) == wanted;
    }
    const bool of_calls = node.field == "duration" || node.field == "ret";
    return !of_calls || id >= FKT_PAIR_ID || !wanted;
  }

  bool is_recorded(std::uint32_t id) const {
    // The ids of system calls are in no catalogue.
    const EventType* type = info_.catalogue.find(static_cast<std::uint16_t>(id));
    const unsigned layer = type == nullptr ? unsigned{FKT_L_SYSTEM} : type->layer;
    return context_.mask >> layer & 1;
  }

  // Watches the ids for which the condition can be true: all calls, and those other events that the
  // condition names.
  Result<fkt_condition> watch() {
    const auto whole = static_cast<std::uint32_t>(expression_.nodes().size() - 1);
    bool possible_at_all = false, any = false;
    for (std::uint32_t id = 0; id < FKT_CONDITION_IDS; id++) {
      if (!name_of(info_, id) || (id < FKT_PAIR_ID && !fkt_condition_has(&asked_for_, id)))
        continue;
      if (!possible(whole, id, true)) continue;
      possible_at_all = true;
      if (!is_recorded(id)) continue;
      insert(when_.watched, id);
      any = true;
    }
    if (any) return when_;
    return Error{ErrorCode::usage, possible_at_all
                                       ? "what it asks of is in no layer that is recorded (see -k)"
                                       : "that can never be true of one event"};
  }

  const Expression& expression_;
  const ConditionContext& context_;
  const TraceInfo info_;
  fkt_condition when_{};
  fkt_condition_set asked_for_{};  // ids of the names that the condition tests for
  std::uint16_t sets_ = 0, texts_ = 0;
};

Result<fkt_condition> compile_condition(const Expression& expression,
                                        const ConditionContext& context) {
  return ConditionCompiler(expression, context).compile();
}

std::string fired_text(const fkt_fired& fired, double ticks_per_second,
                       const std::string& instrument) {
  const TraceInfo info = live_info(ticks_per_second);
  std::string text =
      instrument.empty() ? name_of(info, fired.id).value_or("an event") : "a hit of " + instrument;
  if (fired.duration != FKT_CONDITION_UNKNOWN)
    text +=
        fmt::format(" of {:.3f} ms", static_cast<double>(fired.duration) * 1000 / ticks_per_second);
  const std::string_view task(fired.task, ::strnlen(fired.task, sizeof fired.task));
  text += fmt::format(" by {} ({}) on CPU {}", task, fired.pid, fired.cpu);
  if (fired.id >= FKT_PAIR_ID) text += fmt::format(", ret={}", fired.ret);
  return text;
}

}  // namespace fkt
