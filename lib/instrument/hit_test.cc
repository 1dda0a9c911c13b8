// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/hit_test.h"

#include <fkt/call_hit.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "lib/base/parse.h"
#include "lib/base/suggest.h"
#include "lib/format/clocks.h"
#include "lib/instrument/registers.h"
#include "lib/query/comparison.h"
#include "lib/query/lexer.h"

namespace fkt {
namespace {

struct ContextName {
  std::string_view name;
  fkt_context context;
  std::uint8_t bits;
};

constexpr std::size_t kMostUserArguments = 12;
constexpr std::uint32_t kUserTextBytes = 64;

constexpr ContextName kContexts[] = {
    {"pid", FKT_CONTEXT_PID, 32},
    {"tid", FKT_CONTEXT_TID, 32},
    {"uid", FKT_CONTEXT_UID, 32},
    {"cpu", FKT_CONTEXT_CPU, 32},
    {"context", FKT_CONTEXT_LEVEL, 32},
    {"since_start", FKT_CONTEXT_SINCE_START, 64},
    {"stack_left", FKT_CONTEXT_STACK_LEFT, 64},
    {"lowest_stack", FKT_CONTEXT_LOWEST_STACK, 64},
    {"task", FKT_CONTEXT_TASK, 64},
    {"cgroup", FKT_CONTEXT_CGROUP, 64},
};

// Names of values that are measured of a call's task.
struct CallName {
  std::string_view name;
  HitValue::Source source;
  std::uint8_t word;
};

constexpr CallName kCallNames[] = {
    {"cputime", HitValue::Source::cputime, FKT_CALL_CPUTIME},
    {"depth", HitValue::Source::depth, FKT_CALL_DEPTH},
};

// A type of arguments that lead to a file.
struct FileType {
  std::string_view name;
  fkt_file_of kind;
};

constexpr FileType kFileTypes[] = {
    {"struct file *", FKT_FILE_OF_FILE},
    {"struct path *", FKT_FILE_OF_PATH},
    {"struct dentry *", FKT_FILE_OF_DENTRY},
    {"struct inode *", FKT_FILE_OF_INODE},
    {"struct address_space *", FKT_FILE_OF_MAPPING},
    {"struct kiocb *", FKT_FILE_OF_IOCB},
    {"struct vm_fault *", FKT_FILE_OF_FAULT},
    {"struct readahead_control *", FKT_FILE_OF_READAHEAD},
    {"struct bio *", FKT_FILE_OF_BIO},
    {"struct request *", FKT_FILE_OF_REQUEST},
    {"struct vm_area_struct *", FKT_FILE_OF_MAPPED},
};

// In the order of enum fkt_level.
constexpr std::array<std::string_view, 4> kLevels = {"task", "softirq", "irq", "nmi"};

HitValue context_value(fkt_context context, std::uint8_t bits, std::uint16_t parameter = 0) {
  HitValue value;
  value.source = HitValue::Source::context;
  value.fetch.from = FKT_FROM_CONTEXT;
  value.fetch.index = static_cast<std::uint8_t>(context);
  value.fetch.parameter = parameter;
  value.fetch.bits = bits;
  value.fetch.is_text = context == FKT_CONTEXT_TASK;
  return value;
}

// Returns a property of every hit, such as its CPU, that can be a recorded value: a number.
std::optional<HitValue> context_number(const FieldPath& path) {
  const ContextName* const known = std::ranges::find(kContexts, path.root, &ContextName::name);
  if (known == std::end(kContexts) || !path.steps.empty() || known->context == FKT_CONTEXT_TASK) {
    return std::nullopt;
  }
  return context_value(known->context, known->bits);
}

// "arg3" is the third argument.
std::optional<std::size_t> argument_number(std::string_view name) {
  std::size_t number = 0;
  if (!name.starts_with("arg") || !parse_number(name.substr(3), number) || number == 0) {
    return std::nullopt;
  }
  return number - 1;
}

class TestBinder {
 public:
  TestBinder(const ExpressionNode& node, const TestContext& context)
      : node_(node), context_(context) {}

  Result<HitTest> bind() {
    if (node_.kind == ExpressionNode::Kind::flag) return flag();
    if (node_.kind == ExpressionNode::Kind::chance) return chance();
    FKT_TRY(comparison());
    return std::move(test_);
  }

 private:
  Error wrong_value(const std::string& what) const { return at_column(node_.value_column, what); }

  Result<HitTest> flag() {
    const std::optional<FlagNames::Flag> flag = context_.flags.find(node_.field);
    if (!flag) {
      return at_column(node_.field_column, "no instrument sets a flag " + in_quotes(node_.field) +
                                               did_you_mean(node_.field, context_.flags.names()));
    }
    test_.left =
        context_value(flag->of_task ? FKT_CONTEXT_TASK_FLAG : FKT_CONTEXT_FLAG, 1, flag->number);
    test_.range = {ValueRange::Kind::some, 1, 0};
    return std::move(test_);
  }

  Result<HitTest> chance() {
    test_.left =
        context_value(FKT_CONTEXT_CHANCE, 16, static_cast<std::uint16_t>(node_.value.number));
    test_.range = {ValueRange::Kind::some, 0, 0};
    return std::move(test_);
  }

  Status comparison() {
    const auto path = FKT_TRY(FieldPath::parse(node_.field, node_.field_column));
    const bool wants_text = node_.value.quoted || is_pattern(node_.comparison);
    const bool has_text = node_.value.kind == Literal::Kind::text;
    HitValue left =
        FKT_TRY(context_.names.value(path, has_text ? TextRule::by_type : TextRule::never));
    if (wants_text && !left.fetch.is_text && context_.names.may_be_text(left)) {
      left = FKT_TRY(context_.names.value(path, TextRule::always));
    }
    test_.left = std::move(left);
    test_.comparison = node_.comparison;
    if (test_.left.fetch.is_text) return text();
    if (is_pattern(node_.comparison)) {
      return wrong_value(node_.field + " is no text: ~ and !~ are for texts");
    }
    return has_text ? named_value() : number(node_.value);
  }

  Status text() {
    if (is_for_numbers(node_.comparison)) {
      return wrong_value(node_.field + " is a text: ==, !=, ~ and !~ are for texts");
    }
    if (node_.value.kind != Literal::Kind::text) {
      return wrong_value(node_.field + " is a text: write the value in quotation marks");
    }
    if (!is_pattern(node_.comparison) &&
        node_.value.text.find_first_of("*?") != std::string::npos) {
      return wrong_value("only ~ and !~ take * and ? here");
    }
    if (node_.value.text.size() >= FKT_PROGRAM_TEXT_BYTES) {
      return wrong_value("the text is too long: at most " +
                         std::to_string(FKT_PROGRAM_TEXT_BYTES - 1) + " characters");
    }
    test_.kind = HitTest::Kind::text;
    test_.text = node_.value.text;
    return Done{};
  }

  Status number(const Literal& literal) {
    Literal value = literal;
    if (test_.left.is_time()) {
      FKT_TRY(check_time_has_unit(node_));
    }
    if (literal.kind == Literal::Kind::time) {
      if (!test_.left.is_time()) return wrong_value(node_.field + " is no time");
      const auto ticks = parse_duration(literal.text, context_.ticks_per_second);
      if (!ticks) return wrong_value(ticks.error().message);
      value.kind = Literal::Kind::number;
      value.number = *ticks;
    }
    if (node_.comparison == Comparison::has_bits) {
      if (test_.left.is_time() || bits_of(value) == 0) {
        return wrong_value("& takes a number that is not 0, and no time: as flags & 0x6");
      }
      test_.kind = HitTest::Kind::bits;
      test_.range.first = bits_of(value);
      return Done{};
    }
    const Fetch& fetch = test_.left.fetch;
    test_.range = range_of(node_.comparison, value, fetch.bits, fetch.is_signed);
    if (test_.range.kind == ValueRange::Kind::some) return Done{};
    return wrong_value(
        std::string("that is ") + (test_.range.kind == ValueRange::Kind::all ? "always" : "never") +
        " true: " + node_.field + " is " + (fetch.is_signed ? "a signed" : "an unsigned") +
        " number of " + std::to_string(fetch.bits) + " bits");
  }

  // A word for a number: a name that the type has for it, or another value of the hit.
  Status named_value() {
    const std::string& word = node_.value.text;
    std::vector<std::string> names;
    const std::optional<std::int64_t> known = constant(word, names);
    if (known) {
      Literal value;
      value.negative = *known < 0;
      value.number =
          value.negative ? -static_cast<std::uint64_t>(*known) : static_cast<std::uint64_t>(*known);
      return number(value);
    }
    if (!node_.value.quoted) {
      const Result<FieldPath> path = FieldPath::parse(word, node_.value_column);
      Result<HitValue> other =
          path ? context_.names.value(*path, TextRule::never) : Result<HitValue>(path.error());
      if (other && !other->fetch.is_text && node_.comparison != Comparison::has_bits) {
        test_.kind = HitTest::Kind::values;
        test_.right = std::move(*other);
        return Done{};
      }
      if (path && !path->steps.empty() && !other) return other.error();
    }
    return wrong_value(in_quotes(word) + " is no value of " + node_.field + " and no other value" +
                       did_you_mean(word, names));
  }

  // Returns the number that the word stands for. names: set to all such words.
  std::optional<std::int64_t> constant(const std::string& word, std::vector<std::string>& names) {
    const Fetch& fetch = test_.left.fetch;
    if (test_.left.source == HitValue::Source::context) {
      if (fetch.index != FKT_CONTEXT_LEVEL) return std::nullopt;
      names.assign(kLevels.begin(), kLevels.end());
      const auto level = std::ranges::find(kLevels, word);
      if (level == kLevels.end()) return std::nullopt;
      return level - kLevels.begin();
    }
    if (test_.left.field != nullptr) {
      const ValueNames& known = test_.left.field->names;
      for (const ValueNames::Name& name : known.values) names.push_back(name.second);
      for (const ValueNames::Name& name : known.flags) names.push_back(name.second);
      const std::optional<std::uint64_t> value = known.find(word);
      return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
    }
    const Btf& btf = context_.names.btf();
    const Type type = btf.type(fetch.type);
    if (type.is_bool) {
      names = {"true", "false"};
      if (word == "true" || word == "false") return word == "true" ? 1 : 0;
    }
    if (type.kind != TypeKind::enumeration) return std::nullopt;
    names = btf.enumerators(fetch.type);
    return btf.enumerator(fetch.type, word);
  }

  const ExpressionNode& node_;
  const TestContext& context_;
  HitTest test_;
};

Comparison opposite(Comparison comparison) {
  switch (comparison) {
    case Comparison::equal:
      return Comparison::unequal;
    case Comparison::unequal:
      return Comparison::equal;
    case Comparison::less:
      return Comparison::greater_equal;
    case Comparison::less_equal:
      return Comparison::greater;
    case Comparison::greater:
      return Comparison::less_equal;
    case Comparison::greater_equal:
      return Comparison::less;
    case Comparison::like:
      return Comparison::unlike;
    default:
      return Comparison::like;
  }
}

// Pushes one value and compares it with the other.
void write_values(ProgramBuilder& builder, const HitTest& test, bool wanted) {
  const Comparison comparison = wanted ? test.comparison : opposite(test.comparison);
  const bool is_signed = test.left.fetch.is_signed || test.right->fetch.is_signed;
  const bool swaps = comparison == Comparison::greater || comparison == Comparison::greater_equal;
  fkt_insn insn{};
  insn.op = FKT_OP_TEST_POP;
  switch (comparison) {
    case Comparison::equal:
      insn.compare = FKT_COMPARE_EQ;
      break;
    case Comparison::unequal:
      insn.compare = FKT_COMPARE_NE;
      break;
    case Comparison::less:
    case Comparison::greater:
      insn.compare = is_signed ? FKT_COMPARE_LT : FKT_COMPARE_BELOW;
      break;
    default:
      insn.compare = is_signed ? FKT_COMPARE_LE : FKT_COMPARE_BELOW_EQ;
      break;
  }
  builder.add(FKT_OP_PUSH, swaps ? test.left.fetch : test.right->fetch);
  builder.add(insn, swaps ? test.right->fetch : test.left.fetch);
}

}  // namespace

bool CallNames::may_be_text(const HitValue& value) const {
  if (place_ == PlaceKind::user)
    return value.source != HitValue::Source::context && !value.is_time();
  return value.fetch.type != 0 && btf_.may_be_text(value.fetch.type);
}

HitValue CallNames::with_type(HitValue value, const FieldPath& path) const {
  Fetch& fetch = value.fetch;
  fetch.text_bytes = kUserTextBytes;
  const bool has_type = probe_arguments_ != nullptr && fetch.bits < 64;
  if (probe_arguments_ == nullptr) fetch.is_signed = true;
  const std::string name = path.text();
  const auto said = std::ranges::find_if(
      values_, [&](const FetchedValue& one) { return one.bits != 0 && one.path.text() == name; });
  if (fetch.is_text || has_type || said == values_.end()) return value;
  fetch.is_signed = said->is_signed;
  fetch.bits = said->bits;
  if (fetch.bits == 64) return value;
  if (fetch.load != 0) fetch.load = fetch.bits / 8;
  fetch.left = fetch.right = static_cast<std::uint8_t>(64 - fetch.bits);
  return value;
}

Result<Fetch> CallNames::probe_argument(const FieldPath& path) const {
  const std::vector<UserArgument>& arguments = *probe_arguments_;
  const std::optional<std::size_t> number = argument_number(path.root);
  if (!number || *number >= arguments.size()) {
    return at_column(path.column, arguments.empty() ? "the probe has no arguments"
                                                    : "the probe has arg1 to arg" +
                                                          std::to_string(arguments.size()) +
                                                          ", and registers (as regs.di)");
  }
  if (!arguments[*number].is_known) {
    return at_column(path.column, path.root + " of the probe is in a form that is not read");
  }
  return fetch_of(arguments[*number]);
}

// The arguments of the System V ABI: six in registers, the others above the return address.
Result<HitValue> CallNames::user_argument(const FieldPath& path, TextRule text) const {
  constexpr fkt_register kRegisters[] = {FKT_REGISTER_DI, FKT_REGISTER_SI, FKT_REGISTER_DX,
                                         FKT_REGISTER_CX, FKT_REGISTER_R8, FKT_REGISTER_R9};
  Result<Fetch> fetch = Fetch{};
  if (path.root == kRegisterRoot) {
    fetch = resolve_register(path, text);
  } else if (probe_arguments_ != nullptr) {
    fetch = probe_argument(path);
    if (fetch) fetch = follow_words(std::move(*fetch), path, 0, text);
  } else {
    const std::optional<std::size_t> number = argument_number(path.root);
    if (!number || *number >= kMostUserArguments) {
      if (auto context = context_number(path)) return *std::move(context);
      return at_column(path.column, "of a program's function only arg1 to arg" +
                                        std::to_string(kMostUserArguments) +
                                        " and registers (as regs.di) are known");
    }
    if (*number < std::size(kRegisters)) {
      fetch->index = kRegisters[*number];
    } else {
      fetch->index = FKT_REGISTER_SP;
      fetch->offset = static_cast<std::int32_t>(8 * (*number - std::size(kRegisters) + 1));
      fetch->load = 8;
    }
    fetch = follow_words(std::move(*fetch), path, 0, text);
  }
  if (!fetch) return fetch.error();
  return with_type({HitValue::Source::argument, std::move(*fetch), nullptr}, path);
}

// An argument of a system call: in the program's registers, which the function's argument leads to.
Result<HitValue> CallNames::call_argument(std::size_t i, const FieldPath& path,
                                          TextRule text) const {
  constexpr const char* kRegisters[] = {"di", "si", "dx", "r10", "r8", "r9"};
  if (!path.steps.empty() || text == TextRule::always) {
    return at_column(path.column,
                     path.root +
                         " leads to memory of the program, which is not read: record -k "
                         "system with --args for the paths of files");
  }
  auto fetch = FKT_TRY(resolve_path(btf_, {0, 1, function_.arguments.front().type},
                                    {path.root, {{kRegisters[i], {}, 0, path.column}}, path.column},
                                    TextRule::never));
  const TypeId known = (*function_.in_registers)[i].type;
  fetch.type = known != 0 ? known : function_.arguments.front().type;
  const Type type = btf_.type(fetch.type);
  fetch.is_signed = type.is_signed;
  fetch.bits = static_cast<std::uint8_t>(type.bytes * 8);
  fetch.load = static_cast<std::uint8_t>(type.bytes);
  if (type.is_signed) fetch.left = fetch.right = static_cast<std::uint8_t>(64 - fetch.bits);
  return HitValue{HitValue::Source::argument, std::move(fetch), nullptr};
}

Result<HitValue> CallNames::argument(const FieldPath& path, TextRule text) const {
  if (place_ == PlaceKind::user) return user_argument(path, text);
  if (place_ == PlaceKind::instruction) {
    if (path.root != kRegisterRoot) {
      if (auto context = context_number(path)) return *std::move(context);
      return at_column(path.column,
                       "at an instruction, arguments are not known: ask for registers "
                       "(as regs.di)");
    }
    auto fetch = FKT_TRY(resolve_register(path, text));
    return HitValue{HitValue::Source::argument, std::move(fetch), nullptr};
  }
  if (record_ != nullptr) {
    const EventField* const field = record_->layout.find(path.root);
    const bool is_value = path.steps.empty() || (field && field->form == EventField::Form::array);
    if (field != nullptr && is_value) {
      auto fetch = FKT_TRY(fetch_field(*field, path));
      return HitValue{HitValue::Source::argument, std::move(fetch), field};
    }
  }
  const bool in_registers = function_.in_registers.has_value();
  const auto& arguments = in_registers ? *function_.in_registers : function_.arguments;
  std::size_t i = argument_number(path.root).value_or(arguments.size());
  const auto named = std::ranges::find(arguments, path.root, &Prototype::Argument::name);
  if (named != arguments.end()) i = static_cast<std::size_t>(named - arguments.begin());
  if (i >= arguments.size()) {
    if (auto context = context_number(path)) return *std::move(context);
    std::vector<std::string> names;
    for (const ContextName& known : kContexts) {
      if (known.context != FKT_CONTEXT_TASK) names.emplace_back(known.name);
    }
    std::string list;
    if (record_ != nullptr) {
      for (const EventField& field : record_->layout.fields) {
        names.push_back(field.name);
        list += (list.empty() ? "" : ", ") + names.back();
      }
    }
    for (std::size_t n = 0; n < arguments.size(); n++) {
      const std::string number = "arg" + std::to_string(n + 1);
      names.push_back(arguments[n].name.empty() ? number : arguments[n].name);
      if (record_ != nullptr && record_->layout.find(names.back()) != nullptr) continue;
      list += (list.empty() ? "" : ", ") + names.back();
    }
    const std::string what =
        record_ != nullptr ? " has no field or argument " : " has no argument ";
    return at_column(path.column, function_.function + what + in_quotes(path.root) +
                                      (list.empty() ? "; it has none" : "; it has " + list) +
                                      did_you_mean(path.root, names));
  }
  if (in_registers) return call_argument(i, path, text);
  const ArgumentWords words = layout_.arguments[i];
  if (words.words == 0) {
    return at_column(path.column, "argument " + std::to_string(i + 1) + " is not in a register");
  }
  auto fetch =
      FKT_TRY(resolve_path(btf_, {words.first, words.words, arguments[i].type}, path, text));
  return HitValue{HitValue::Source::argument, std::move(fetch), nullptr};
}

Result<HitValue> CallNames::result(const FieldPath& path, TextRule text) const {
  if (place_ == PlaceKind::user) {
    Fetch start;
    start.index = FKT_CALL_RESULT;
    auto fetch = FKT_TRY(follow_words(std::move(start), path, 0, text));
    return with_type({HitValue::Source::result, std::move(fetch), nullptr}, path);
  }
  auto fetch = FKT_TRY(resolve_path(btf_, {FKT_CALL_RESULT, 2, function_.result}, path, text));
  return HitValue{HitValue::Source::result, std::move(fetch), nullptr};
}

Result<HitValue> CallNames::ip6_address(const FieldPath& path, bool of_result) const {
  const auto bind = [&](const FieldPath& one) {
    return of_result ? result(one, TextRule::never) : argument(one, TextRule::never);
  };
  if (Result<HitValue> whole = bind(path); whole && whole->field != nullptr) {
    if (whole->field->form == EventField::Form::array && whole->field->size == kIp6Bytes) {
      return whole;
    }
    return at_column(path.column, path.text() + " is no address of IP version 6");
  }
  FieldPath first_byte = path;
  for (const char* const member : {"in6_u", "u6_addr8", ""}) {
    first_byte.steps.push_back({member, {}, 0, path.column});
  }
  Result<HitValue> bound = bind(first_byte);
  if (bound) bound->fetch.load = 8;
  return bound;
}

Result<HitValue> CallNames::file_number(const FieldPath& path) const {
  const auto pointer = FKT_TRY(argument(path, TextRule::never));
  const std::string type = btf_.name(pointer.fetch.type);
  const auto* const kind = std::ranges::find(kFileTypes, type, &FileType::name);
  if (!path.steps.empty() || kind == std::end(kFileTypes)) {
    std::string known;
    for (const FileType& one : kFileTypes)
      known += (known.empty() ? "" : ", ") + std::string(one.name);
    return at_column(path.column, path.text() + " is " +
                                      (path.steps.empty() ? type : "no argument") +
                                      ": inode is of an argument that is one of " + known);
  }
  const auto parameter =
      static_cast<std::uint16_t>(FKT_FILE_PARAMETER(pointer.fetch.index, kind->kind));
  return context_value(FKT_CONTEXT_FILE, 64, parameter);
}

Result<HitValue> CallNames::value(const FieldPath& path, TextRule text) const {
  const EventField* const field = record_ != nullptr ? record_->layout.find(path.root) : nullptr;
  if (field != nullptr) {
    if (field->form == EventField::Form::array && path.steps.empty()) {
      return at_column(path.column,
                       field->name + " is an array: say which element, as " + field->name + "[0]");
    }
    return argument(path, text);
  }
  if (path.root == "ret") return result(path, text);
  if (!path.steps.empty()) return argument(path, text);
  if (path.root == "duration") {
    HitValue duration;
    duration.source = HitValue::Source::duration;
    duration.fetch.index = FKT_CALL_DURATION;
    return duration;
  }
  const CallName* const of_call = std::ranges::find(kCallNames, path.root, &CallName::name);
  if (place_ == PlaceKind::call && of_call != std::end(kCallNames)) {
    HitValue value;
    value.source = of_call->source;
    value.fetch.index = of_call->word;
    return value;
  }
  const ContextName* const context = std::ranges::find(kContexts, path.root, &ContextName::name);
  if (context != std::end(kContexts)) return context_value(context->context, context->bits);
  return argument(path, text);
}

Result<HitTest> bind_test(const ExpressionNode& node, const TestContext& context) {
  return TestBinder(node, context).bind();
}

Status write_test(ProgramBuilder& builder, const HitTest& test, bool wanted,
                  ProgramBuilder::Label otherwise) {
  if (test.kind == HitTest::Kind::values) {
    write_values(builder, test, wanted);
  } else if (test.kind == HitTest::Kind::text) {
    const auto number = FKT_TRY(builder.text(test.text));
    fkt_insn insn{};
    insn.op = FKT_OP_MATCH;
    insn.value = number;
    insn.flags = negates(test.comparison) == wanted ? FKT_INSN_NOT : 0;
    builder.add(insn, test.left.fetch);
  } else if (test.kind == HitTest::Kind::bits) {
    fkt_insn insn{};
    insn.op = FKT_OP_TEST_BITS;
    insn.value = test.range.first;
    insn.flags = wanted ? 0 : FKT_INSN_NOT;
    builder.add(insn, test.left.fetch);
  } else {
    const ValueRange range = wanted ? test.range : test.range.complement();
    fkt_insn insn{};
    insn.op = FKT_OP_TEST;
    insn.value = range.first;
    insn.span = range.span;
    builder.add(insn, test.left.fetch);
  }
  builder.last_jumps_to(otherwise);
  return Done{};
}

}  // namespace fkt
