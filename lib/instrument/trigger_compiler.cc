// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/trigger_compiler.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "lib/format/catalogue.h"
#include "lib/format/clocks.h"
#include "lib/format/number_names.h"
#include "lib/instrument/value_range.h"
#include "lib/query/bound_expression.h"
#include "lib/query/comparison.h"

namespace fkt {
namespace {

bool is_call(const EventType& type) {
  return type.kind == "syscall";
}

// Returns the RecordingInfo of a recording made on this machine, with only the names and the clock.
RecordingInfo live_info(double ticks_per_second) {
  RecordingInfo info;
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

// Returns the name of an id of fkt_trigger; nothing when it is no event's.
std::optional<std::string> name_of(const RecordingInfo& info, std::uint32_t id) {
  if (id >= FKT_P_SYSCALL32) return call_name("sys32_", info.syscalls32, id - FKT_P_SYSCALL32);
  if (id >= FKT_P_SYSCALL) return call_name("sys_", info.syscalls, id - FKT_P_SYSCALL);
  const EventType* type = info.catalogue.find(static_cast<std::uint16_t>(id));
  if (type == nullptr || is_call(*type)) return std::nullopt;
  return type->name;
}

constexpr ValueRange kCalls{ValueRange::Kind::some, FKT_PAIR_ID, ~std::uint64_t{FKT_PAIR_ID}};
constexpr ValueRange kMeasured{ValueRange::Kind::some, 0, FKT_TRIGGER_UNKNOWN - 1};
// Of ids: no event has it.
constexpr ValueRange kNever{ValueRange::Kind::some, ~std::uint64_t{0}, 0};

}  // namespace

class TriggerCompiler {
 public:
  TriggerCompiler(const Expression& expression, const TriggerContext& context)
      : expression_(expression), context_(context), info_(live_info(context.ticks_per_second)) {}

  Result<Trigger> compile() {
    // Report first what is wrong with any expression.
    FKT_TRY(BoundExpression::bind(expression_, info_));
    const auto root = static_cast<std::uint32_t>(expression_.nodes().size() - 1);
    FKT_TRY(write(root, true, ProgramBuilder::kDrop));
    FKT_TRY(watch(root));
    made_.program = FKT_TRY(builder_.finish(fkt_trigger_rules()));
    made_.head.program = reinterpret_cast<std::uintptr_t>(&made_.program.program());
    made_.head.bytes = static_cast<__u32>(made_.program.bytes());
    return std::move(made_);
  }

 private:
  using Kind = ExpressionNode::Kind;
  using Label = ProgramBuilder::Label;

  // Adds the instructions that continue at `otherwise` unless the node's truth is `wanted`.
  Status write(std::uint32_t at, bool wanted, Label otherwise) {
    const ExpressionNode& node = expression_.nodes()[at];
    if (node.kind == Kind::comparison) return comparison(node, wanted, otherwise);
    if (node.kind == Kind::negation) return write(node.left, !wanted, otherwise);
    if ((node.kind == Kind::conjunction) == wanted) {
      FKT_TRY(write(node.left, wanted, otherwise));
      return write(node.right, wanted, otherwise);
    }
    const Label decided = builder_.new_label();
    FKT_TRY(write(node.left, !wanted, decided));
    FKT_TRY(write(node.right, wanted, otherwise));
    builder_.place(decided);
    return Done{};
  }

  Status comparison(const ExpressionNode& node, bool wanted, Label otherwise) {
    if (node.comparison == Comparison::has_bits) {
      return at_column(node.value_column, "& is for -i and --where");
    }
    if (node.field == "name") return name(node, wanted, otherwise);
    if (node.field == "task") return task(node, wanted, otherwise);
    if (node.field == "duration") {
      made_.head.tids = context_.tids;
      const auto ticks = FKT_TRY(duration(node));
      both({FKT_TRIGGER_DURATION, kMeasured},
           {FKT_TRIGGER_DURATION, range_of(node.comparison, ticks, 64, false)}, wanted, otherwise);
      return Done{};
    }
    const bool of_call = node.field == "ret";
    if (!of_call && node.field != "cpu" && node.field != "pid") {
      return at_column(node.field_column, "\"" + node.field +
                                              "\" cannot be checked while recording: name, "
                                              "duration, ret, cpu, pid and task can");
    }
    if (node.value.kind != Literal::Kind::number || is_pattern(node.comparison)) {
      return at_column(node.value_column,
                       node.field + " takes a number here (as 3, -2 or -ENOENT)");
    }
    const ValueRange range = range_of(node.comparison, node.value, 64, true);
    if (of_call) {
      both({FKT_TRIGGER_ID, kCalls}, {FKT_TRIGGER_RET, range}, wanted, otherwise);
    } else {
      test({node.field == "cpu" ? FKT_TRIGGER_CPU : FKT_TRIGGER_TID, range}, wanted, otherwise);
    }
    return Done{};
  }

  struct WordTest {
    fkt_trigger_word word;
    ValueRange range;
  };

  void test(WordTest test, bool wanted, Label otherwise) {
    if (test.range.kind != ValueRange::Kind::some) {
      wanted ^= test.range.kind == ValueRange::Kind::all;
      test = {FKT_TRIGGER_ID, kNever};
    }
    if (!wanted) test.range = test.range.complement();
    fkt_insn insn{};
    insn.op = FKT_OP_TEST;
    insn.index = static_cast<__u8>(test.word);
    insn.value = test.range.first;
    insn.span = test.range.span;
    builder_.add(insn);
    builder_.last_jumps_to(otherwise);
  }

  // The test `second` is true only where `first` is, too.
  void both(const WordTest& first, const WordTest& second, bool wanted, Label otherwise) {
    const Label decided = builder_.new_label();
    test(first, true, wanted ? otherwise : decided);
    test(second, wanted, otherwise);
    builder_.place(decided);
  }

  Result<Literal> duration(const ExpressionNode& node) const {
    FKT_TRY(check_time_has_unit(node));
    Literal ticks;
    ticks.number = node.value.number;
    if (node.value.kind == Literal::Kind::time) {
      const auto parsed = parse_duration(node.value.text, context_.ticks_per_second);
      if (!parsed) return at_column(node.value_column, parsed.error().message);
      ticks.number = *parsed;
    }
    return ticks;
  }

  Status task(const ExpressionNode& node, bool wanted, Label otherwise) {
    const std::string& text = node.value.text;
    if (text.size() >= FKT_PROGRAM_TEXT_BYTES) {
      return at_column(node.value_column, "no task has so long a name");
    }
    if (!is_pattern(node.comparison) && text.find_first_of("*?") != text.npos) {
      return at_column(node.value_column, "only ~ and !~ take * and ? here");
    }
    fkt_insn insn{};
    insn.op = FKT_OP_MATCH;
    insn.index = FKT_TRIGGER_TASK;
    insn.value = FKT_TRY(builder_.text(text));
    insn.flags = negates(node.comparison) == wanted ? FKT_INSN_NOT : 0;
    builder_.add(insn);
    builder_.last_jumps_to(otherwise);
    return Done{};
  }

  // A test for each run of ids that fit: ids between them without a name are no event's.
  Status name(const ExpressionNode& node, bool wanted, Label otherwise) {
    std::vector<ValueRange> runs;
    bool in_run = false;
    for (std::uint32_t id = 0; id < FKT_TRIGGER_IDS; id++) {
      const std::optional<std::string> known = name_of(info_, id);
      if (!known) continue;
      const bool fits = same(node.comparison, *known, node.value);
      if (fits && !in_run) runs.push_back({ValueRange::Kind::some, id, 0});
      if (fits) runs.back().span = id - runs.back().first;
      if (fits && !negates(node.comparison)) insert(asked_for_, id);
      in_run = fits;
    }
    if (runs.empty()) {
      return at_column(node.value_column, "\"" + node.value.text +
                                              "\" is no event that can be checked while recording");
    }
    if (negates(node.comparison)) wanted = !wanted;
    const Label found = builder_.new_label();
    for (const ValueRange& run : std::span(runs).first(runs.size() - 1)) {
      test({FKT_TRIGGER_ID, run}, false, wanted ? found : otherwise);
    }
    test({FKT_TRIGGER_ID, runs.back()}, wanted, otherwise);
    builder_.place(found);
    return Done{};
  }

  static void insert(fkt_trigger& set, std::uint32_t id) {
    set.watched[id / 64] |= std::uint64_t{1} << id % 64;
  }

  // Returns whether the node can have the value `wanted` for an event with this id; tests that
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

  // Watches the ids for which the expression can be true: all calls, and those other events that it
  // names.
  Status watch(std::uint32_t root) {
    bool possible_at_all = false, any = false;
    for (std::uint32_t id = 0; id < FKT_TRIGGER_IDS; id++) {
      if (!name_of(info_, id) || (id < FKT_PAIR_ID && !fkt_trigger_watches(&asked_for_, id)))
        continue;
      if (!possible(root, id, true)) continue;
      possible_at_all = true;
      if (!is_recorded(id)) continue;
      insert(made_.head, id);
      any = true;
    }
    if (any) return Done{};
    return Error{ErrorCode::usage, possible_at_all
                                       ? "what it asks of is in no layer that is recorded (see -k)"
                                       : "that can never be true of one event"};
  }

  const Expression& expression_;
  const TriggerContext& context_;
  const RecordingInfo info_;
  Trigger made_;
  ProgramBuilder builder_;
  fkt_trigger asked_for_{};  // the ids of names that the expression tests for
};

Result<Trigger> compile_trigger(const Expression& expression, const TriggerContext& context) {
  return TriggerCompiler(expression, context).compile();
}

std::string fired_text(const fkt_fired& fired, double ticks_per_second,
                       const std::string& instrument) {
  const RecordingInfo info = live_info(ticks_per_second);
  std::string text =
      instrument.empty() ? name_of(info, fired.id).value_or("an event") : "a hit of " + instrument;
  if (fired.duration != FKT_TRIGGER_UNKNOWN)
    text +=
        fmt::format(" of {:.3f} ms", static_cast<double>(fired.duration) * 1000 / ticks_per_second);
  const std::string_view task(fired.task, ::strnlen(fired.task, sizeof fired.task));
  text += fmt::format(" by {} ({}) on CPU {}", task, fired.pid, fired.cpu);
  if (fired.id >= FKT_PAIR_ID) text += fmt::format(", ret={}", fired.ret);
  return text;
}

}  // namespace fkt
