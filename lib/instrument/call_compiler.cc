// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/call_compiler.h"

#include <fkt/ioctl.h>
#include <fkt/point_hit.h>
#include <fkt/user_hit.h>

#include <algorithm>
#include <map>

#include "lib/instrument/argument_words.h"
#include "lib/instrument/hit_test.h"

namespace fkt {

class CallCompiler {
 public:
  CallCompiler(const Instrument& instrument, const Prototype& function, const CallContext& context,
               ArgumentLayout layout, CallNames::PlaceKind place = CallNames::PlaceKind::function,
               const PointRecord* record = nullptr)
      : instrument_(instrument),
        function_(function),
        layout_(std::move(layout)),
        by_probe_(context.by_probe),
        place_(place),
        record_(record),
        names_(context.btf, function, layout_, place, record, instrument.values,
               context.probe_arguments),
        tests_context_{names_, context.ticks_per_second, context.flags} {}

  // Compiles the single program of a place where all values are known at the hit. what: the place,
  // for messages. rules: returns the kernel's limits; called with the size of the tracepoint's
  // record, 0 if it is not used.
  template <class Rules>
  Result<PointProgram> compile_at_once(const Rules& rules, const std::string& what) {
    const Error none{ErrorCode::usage, what + " has no return value and no duration"};
    if (std::ranges::any_of(instrument_.values, &FetchedValue::of_result)) return none;
    FKT_TRY(bind_values());
    FKT_TRY(bind_measured());
    FKT_TRY(bind_condition());
    const bool of_result = std::ranges::any_of(
        measured_, [](const Measured& m) { return m.bound.is_known_at_exit_only(); });
    if (of_result || !at_exit_.empty()) return none;
    ProgramBuilder builder;
    FKT_TRY(write_all(builder, at_entry_));
    find_shared_words();
    for (const Value& value : values_) record(builder, value);
    for (const Measured& value : measured_) emit_measured(builder, value);
    const bool uses_record = asks_record();
    auto block = FKT_TRY(builder.finish(rules(uses_record ? record_->bytes : 0)));
    describe_measured();
    return PointProgram{std::move(block), std::move(made_.fields), std::move(made_.measured),
                        uses_record};
  }

  Result<CallPrograms> compile() {
    if (!by_probe_) FKT_TRY(may_call_through(layout_));
    FKT_TRY(bind_values());
    FKT_TRY(bind_measured());
    FKT_TRY(bind_condition());
    FKT_TRY(find_task_words());
    FKT_TRY(write_entry());
    FKT_TRY(write_exit());
    made_.suits_all = suits_all();
    return std::move(made_);
  }

 private:
  using Kind = ExpressionNode::Kind;
  using Label = ProgramBuilder::Label;

  struct Value {
    const FetchedValue* asked;
    HitValue bound;
  };

  // A histogram's value or its key.
  struct Measured {
    const FieldPath* asked;
    HitValue bound;
    std::optional<std::uint16_t> kept = {};  // the word of the first program that has it
  };

  // The times at which the values of a part of the condition are known.
  struct Needs {
    bool entry = false, exit = false;  // uses values that are known only then

    Needs operator|(Needs other) const { return {entry || other.entry, exit || other.exit}; }
  };

  bool is_user() const { return place_ == CallNames::PlaceKind::user; }
  const ExpressionNode& node(std::uint32_t at) const { return instrument_.condition->nodes()[at]; }
  static bool is_test(const ExpressionNode& node) {
    return node.kind != Kind::conjunction && node.kind != Kind::disjunction &&
           node.kind != Kind::negation;
  }

  Status bind_values() {
    // The values are not recorded: they only declare types for the condition.
    if (is_user() && !gives_values(instrument_.action)) return Done{};
    for (const FetchedValue& value : instrument_.values) {
      if (is_result_of_void(value)) continue;
      const TextRule text = value.form == FetchedValue::Form::by_type  ? TextRule::by_type
                            : value.form == FetchedValue::Form::string ? TextRule::always
                                                                       : TextRule::never;
      auto bound = FKT_TRY(
          value.form == FetchedValue::Form::ip6 ? names_.ip6_address(value.path, value.of_result)
          : value.form == FetchedValue::Form::inode ? names_.file_number(value.path)
          : value.of_result                         ? names_.result(value.path, text)
                                                    : names_.argument(value.path, text));
      values_.push_back({&value, std::move(bound)});
      uses_entry_ |= !value.of_result;
    }
    return Done{};
  }

  Status bind_measured() {
    const Action& action = instrument_.action;
    if (action.kind != Action::Kind::histogram) return Done{};
    auto value = FKT_TRY(names_.value(action.value, TextRule::by_type));
    if (value.fetch.is_text) {
      return at_column(action.value.column, action.value.text() + " is a text, and no value");
    }
    measured_.push_back({&action.value, std::move(value)});
    if (action.key) {
      auto key = FKT_TRY(names_.value(*action.key, TextRule::by_type));
      measured_.push_back({&*action.key, std::move(key)});
    }
    for (const Measured& one : measured_) uses_entry_ |= one.bound.is_known_at_entry_only();
    return Done{};
  }

  void emit_measured(ProgramBuilder& builder, const Measured& one) {
    builder.emit(one.bound.fetch, key_bytes(one.bound.fetch));
  }

  // The first program: keeps values known only at the entry.
  void keep_measured(ProgramBuilder& builder) {
    for (Measured& one : measured_) {
      if (!one.bound.is_known_at_entry_only()) continue;
      one.kept = builder.words();
      emit_measured(builder, one);
    }
  }

  // The second program.
  void write_measured(ProgramBuilder& builder) {
    for (const Measured& one : measured_) {
      if (!one.kept) {
        emit_measured(builder, one);
        continue;
      }
      const std::uint16_t bytes = key_bytes(one.bound.fetch);
      fkt_insn insn{};
      insn.op = FKT_OP_EMIT_WORDS;
      insn.index = static_cast<__u8>(FKT_CALL_FIRST_KEPT + *one.kept);
      insn.size = bytes;
      builder.add(insn);
      builder.set_words(static_cast<std::uint16_t>(builder.words() + bytes / 8));
    }
  }

  void describe_measured() {
    if (measured_.empty()) return;
    MeasuredValue& made = made_.measured.emplace();
    made.is_time = measured_[0].bound.is_time();
    made.value = field_of(*measured_[0].asked, measured_[0].bound.fetch, 0, 1);
    if (measured_.size() < 2) return;
    const Fetch& key = measured_[1].bound.fetch;
    made.key =
        field_of(*measured_[1].asked, key, 1, static_cast<std::uint16_t>(key_bytes(key) / 8));
  }

  // Of many functions, those without a result are recorded without it.
  bool is_result_of_void(const FetchedValue& value) const {
    return value.of_result && value.path.steps.empty() && !instrument_.place.names.is_one_name() &&
           !is_user() && names_.btf().type(function_.result).kind == TypeKind::none;
  }

  Status bind_condition() {
    if (!instrument_.condition) return Done{};
    const auto& nodes = instrument_.condition->nodes();
    tests_.resize(nodes.size());
    needs_.resize(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); i++) {
      if (!is_test(nodes[i])) {
        needs_[i] = needs_[nodes[i].left];
        if (nodes[i].kind != Kind::negation) needs_[i] = needs_[i] | needs_[nodes[i].right];
        continue;
      }
      tests_[i] = FKT_TRY(bind_test(nodes[i], tests_context_));
      needs_[i] = needs_of(tests_[i]);
    }
    const auto root = static_cast<std::uint32_t>(nodes.size() - 1);
    uses_entry_ |= needs_[root].entry;
    split(root);
    return Done{};
  }

  // Finds whether cputime or depth is used, which need the call's task.
  Status find_task_words() {
    const auto of_task = [](const HitTest& test) {
      return test.left.is_of_task() || (test.right && test.right->is_of_task());
    };
    made_.asks_task =
        std::ranges::any_of(tests_, of_task) ||
        std::ranges::any_of(measured_, [](const Measured& m) { return m.bound.is_of_task(); });
    if (!made_.asks_task || !by_probe_) return Done{};
    return Error{ErrorCode::usage, "a return probe knows neither cputime nor depth"};
  }

  // Returns whether nothing that is asked for depends on the function's arguments and result.
  bool suits_all() const {
    const auto is_own = [](const HitValue& value) {
      return value.source == HitValue::Source::argument || value.source == HitValue::Source::result;
    };
    return instrument_.values.empty() &&
           std::ranges::none_of(measured_,
                                [&](const Measured& one) { return is_own(one.bound); }) &&
           std::ranges::none_of(tests_, [&](const HitTest& test) {
             return is_own(test.left) || (test.right && is_own(*test.right));
           });
  }

  static Needs needs_of(const HitTest& test) {
    const auto of = [](const HitValue& value) {
      return Needs{value.is_known_at_entry_only(), value.is_known_at_exit_only()};
    };
    return test.right ? of(test.left) | of(*test.right) : of(test.left);
  }

  // Finds the parts that are joined by "&&", and the program that evaluates each.
  void split(std::uint32_t at) {
    if (node(at).kind == Kind::conjunction) {
      split(node(at).left);
      split(node(at).right);
    } else {
      (needs_[at].exit ? at_exit_ : at_entry_).push_back(at);
    }
  }

  // Writes what continues at `otherwise` unless the part's result is `wanted`.
  Status write(ProgramBuilder& builder, std::uint32_t at, bool wanted, Label otherwise) {
    const auto kept = kept_results_.find(at);
    if (kept != kept_results_.end()) return write_test(builder, kept->second, wanted, otherwise);
    const ExpressionNode& one = node(at);
    if (one.kind == Kind::negation) return write(builder, one.left, !wanted, otherwise);
    if (is_test(one)) return write_test(builder, tests_[at], wanted, otherwise);
    // One operand decides alone if it is what ends the evaluation: false for "&&", true for "||".
    const bool ending = one.kind == Kind::disjunction;
    if (ending != wanted) {
      const Status left = write(builder, one.left, wanted, otherwise);
      return left ? write(builder, one.right, wanted, otherwise) : left;
    }
    const Label decided = builder.new_label();
    Status written = write(builder, one.left, !wanted, decided);
    if (written) written = write(builder, one.right, wanted, otherwise);
    builder.place(decided);
    return written;
  }

  Status write_all(ProgramBuilder& builder, const std::vector<std::uint32_t>& parts) {
    for (const std::uint32_t part : parts) {
      FKT_TRY(write(builder, part, true, ProgramBuilder::kDrop));
    }
    return Done{};
  }

  // The first program: tests, the values that are recorded, what the second program asks for.
  Status write_entry() {
    if (!uses_entry_) {
      at_exit_.insert(at_exit_.begin(), at_entry_.begin(), at_entry_.end());
      return Done{};
    }
    ProgramBuilder builder;
    FKT_TRY(write_all(builder, at_entry_));
    for (const Value& value : values_) {
      if (!value.asked->of_result) record(builder, value);
    }
    recorded_at_entry_ = builder.words();
    keep_measured(builder);
    for (const std::uint32_t part : at_exit_) FKT_TRY(keep(builder, part));
    auto block =
        FKT_TRY(builder.finish(is_user() ? fkt_user_call_rules() : fkt_call_entry_rules()));
    made_.entry = std::move(block);
    return Done{};
  }

  // Keeps what the second program needs of this part of the condition: results of tests of
  // arguments, and arguments that are compared with what is known later.
  Status keep(ProgramBuilder& builder, std::uint32_t at) {
    const ExpressionNode& one = node(at);
    if (!needs_[at].entry) return Done{};
    if (!needs_[at].exit) return keep_result(builder, at);
    if (is_test(one)) {
      for (HitValue* const value : {&tests_[at].left, &*tests_[at].right}) {
        if (!value->is_known_at_entry_only()) continue;
        const std::uint16_t word = builder.words();
        builder.emit(value->fetch, 0);
        value->fetch = kept_word(word, value->fetch);
      }
      return Done{};
    }
    const Status kept = keep(builder, one.left);
    return kept && one.kind != Kind::negation ? keep(builder, one.right) : kept;
  }

  // Emits 1 or 0, and makes the part a test of this word.
  Status keep_result(ProgramBuilder& builder, std::uint32_t at) {
    const std::uint16_t word = builder.words();
    const Label is_false = builder.new_label(), end = builder.new_label();
    FKT_TRY(write(builder, at, true, is_false));
    builder.emit_number(1);
    builder.add_jump(end);
    builder.place(is_false);
    builder.set_words(word);
    builder.emit_number(0);
    builder.place(end);
    HitTest test;
    test.left.fetch = kept_word(word, {});
    test.range = {ValueRange::Kind::some, 1, 0};
    kept_results_.emplace(at, std::move(test));
    return Done{};
  }

  // The second program: tests, the values from the entry, the results.
  Status write_exit() {
    ProgramBuilder builder;
    FKT_TRY(write_all(builder, at_exit_));
    if (recorded_at_entry_ != 0) {
      fkt_insn insn{};
      insn.op = FKT_OP_EMIT_WORDS;
      insn.index = FKT_CALL_FIRST_KEPT;
      insn.size = static_cast<__u16>(recorded_at_entry_ * 8);
      builder.add(insn);
      builder.set_words(recorded_at_entry_);
    }
    for (const Value& value : values_) {
      if (value.asked->of_result) record(builder, value);
    }
    write_measured(builder);
    describe_measured();
    const __u32 kept = made_.entry.program().words;
    made_.exit = FKT_TRY(
        builder.finish(is_user() ? fkt_user_return_rules(kept) : fkt_call_exit_rules(kept)));
    made_.limits = limits();
    return Done{};
  }

  bool asks_record() const {
    const auto is_field = [](const HitValue& value) { return value.field != nullptr; };
    return std::ranges::any_of(values_, [&](const Value& one) { return is_field(one.bound); }) ||
           std::ranges::any_of(measured_,
                               [&](const Measured& one) { return is_field(one.bound); }) ||
           std::ranges::any_of(tests_, [&](const HitTest& test) {
             return is_field(test.left) || (test.right && is_field(*test.right));
           });
  }

  // Returns the offset of the record's word of 8 bytes that can be recorded instead of the field.
  std::optional<std::uint32_t> word_of(const Value& value) const {
    const EventField* const field = value.bound.field;
    const Fetch& fetch = value.bound.fetch;
    if (field == nullptr || fetch.is_text || fetch.load == 0) return std::nullopt;
    const auto offset = static_cast<std::uint32_t>(fetch.offset), word = offset / 8 * 8;
    if (offset % fetch.load != 0 || word + 8 > record_->bytes) return std::nullopt;
    // Readers extend the sign of such a field only.
    const bool is_plain = field->names.empty() && value.asked->shown_as.empty() &&
                          kind_of(*field, fetch) == RecordedField::Kind::signed_number;
    return fetch.is_signed && !is_plain ? std::nullopt : std::optional(word);
  }

  // A word that several fields share is recorded once.
  void find_shared_words() {
    std::map<std::uint32_t, int> fields;
    for (const Value& value : values_) {
      const std::optional<std::uint32_t> word = word_of(value);
      if (word && ++fields[*word] == 2) shared_words_.emplace(*word, std::nullopt);
    }
  }

  // Returns whether the number is in a word that is recorded for several fields.
  bool record_shared(ProgramBuilder& builder, const Value& value, RecordedField& recorded) {
    const std::optional<std::uint32_t> word = word_of(value);
    const auto shared = word ? shared_words_.find(*word) : shared_words_.end();
    if (shared == shared_words_.end()) return false;
    if (!shared->second) {
      shared->second = builder.words();
      builder.emit_record_word(FKT_POINT_RECORD_WORD, *word);
    }
    const Fetch& fetch = value.bound.fetch;
    recorded.first_word = *shared->second;
    recorded.shift = static_cast<std::uint8_t>(8 * (fetch.offset % 8));
    recorded.bits = static_cast<std::uint8_t>(8 * fetch.load);
    return true;
  }

  // Emits a field of the tracepoint's own record.
  void record_field(ProgramBuilder& builder, const Value& value) {
    using Form = EventField::Form;
    const EventField& field = *value.bound.field;
    const Fetch& fetch = value.bound.fetch;
    RecordedField recorded;
    recorded.name = value.asked->name.empty() ? value.asked->path.text() : value.asked->name;
    recorded.first_word = builder.words();
    const bool is_bytes = field.form == Form::array && value.asked->path.steps.empty();
    const bool is_number =
        !is_bytes && field.form != Form::text && field.form != Form::text_elsewhere;
    if (is_bytes || field.form == Form::text) {
      recorded.size = std::min<std::uint32_t>(field.size, kMostTextBytes);
      builder.emit_record_bytes(
          {FKT_POINT_RECORD_WORD, record_->bytes, field.offset, recorded.size});
      recorded.kind = value.asked->form == FetchedValue::Form::ip6 ? RecordedField::Kind::ip6
                      : is_bytes                                   ? RecordedField::Kind::bytes
                                                                   : RecordedField::Kind::text;
    } else if (field.form == Form::text_elsewhere) {
      builder.emit(fetch, kTextBytes);
      recorded.kind = RecordedField::Kind::text;
    } else {
      recorded.shown_as = value.asked->shown_as;
      if (recorded.shown_as.empty()) recorded.names = field.names;
      recorded.kind = kind_of(field, fetch);
      if (record_shared(builder, value, recorded)) {
        // Its only word may have been emitted before.
      } else if (fetch.load == 8) {
        builder.emit_record_word(FKT_POINT_RECORD_WORD, static_cast<std::uint32_t>(fetch.offset));
      } else {
        builder.emit(fetch, 0);
      }
    }
    if (!is_number)
      recorded.words = static_cast<std::uint16_t>(builder.words() - recorded.first_word);
    made_.fields.push_back(std::move(recorded));
  }

  // Emits a value, and describes the words that it has in the event.
  void record(ProgramBuilder& builder, const Value& value) {
    if (value.bound.field != nullptr) return record_field(builder, value);
    const Fetch& fetch = value.bound.fetch;
    const std::uint16_t first_word = builder.words();
    if (value.asked->form == FetchedValue::Form::ip6) return record_ip6(builder, value);
    builder.emit(fetch, text_bytes(fetch));
    RecordedField& field = made_.fields.emplace_back(
        field_of(value.asked->path, fetch, first_word,
                 static_cast<std::uint16_t>(builder.words() - first_word)));
    if (!value.asked->name.empty()) field.name = value.asked->name;
    field.shown_as = value.asked->shown_as;
    // Negative results of programs are no error numbers, as those of the kernel are.
    if (is_user() && value.asked->of_result && field.shown_as.empty() &&
        field.kind == RecordedField::Kind::signed_number) {
      field.shown_as = "d";
    }
  }

  void record_ip6(ProgramBuilder& builder, const Value& value) {
    RecordedField field;
    field.name = value.asked->name.empty() ? value.asked->path.text() : value.asked->name;
    field.kind = RecordedField::Kind::ip6;
    field.first_word = builder.words();
    field.words = kIp6Bytes / 8;
    field.size = kIp6Bytes;
    Fetch half = value.bound.fetch;
    builder.emit(half, 0);
    half.offset += 8;
    builder.emit(half, 0);
    made_.fields.push_back(std::move(field));
  }

  RecordedField field_of(const FieldPath& path, const Fetch& fetch, std::uint16_t first_word,
                         std::uint16_t words) const {
    RecordedField field;
    field.name = path.text();
    field.first_word = first_word;
    field.words = words;
    const Type type = names_.btf().type(fetch.type);
    const bool is_register =
        place_ == CallNames::PlaceKind::instruction && fetch.from != FKT_FROM_CONTEXT;
    field.kind = fetch.is_text                    ? RecordedField::Kind::text
                 : type.kind == TypeKind::pointer ? RecordedField::Kind::address
                 : is_register                    ? RecordedField::Kind::hexadecimal
                 : fetch.is_signed                ? RecordedField::Kind::signed_number
                                                  : RecordedField::Kind::number;
    return field;
  }

  CallLimits limits() const {
    CallLimits limits;
    for (const std::uint32_t part : at_exit_) {
      if (is_test(node(part))) narrow(limits, tests_[part]);
    }
    return limits;
  }

  const Instrument& instrument_;
  const Prototype& function_;
  const ArgumentLayout layout_;
  const bool by_probe_;
  const CallNames::PlaceKind place_;
  const PointRecord* const record_;
  const CallNames names_;
  const TestContext tests_context_;
  std::vector<Value> values_;
  std::vector<Measured> measured_;  // the histogram's value, and its key if it has one
  std::vector<HitTest> tests_;      // of the condition's nodes, likewise the next
  std::vector<Needs> needs_;
  std::vector<std::uint32_t> at_entry_, at_exit_;  // nodes that must all be true
  std::map<std::uint32_t, HitTest> kept_results_;
  bool uses_entry_ = false;
  std::uint16_t recorded_at_entry_ = 0;  // words
  // By their offsets in the record: which word of the event they are, once they are emitted.
  std::map<std::uint32_t, std::optional<std::uint16_t>> shared_words_;
  CallPrograms made_;
};

Result<CallPrograms> compile_call(const Instrument& instrument, const Prototype& function,
                                  const CallContext& context) {
  return CallCompiler(instrument, function, context, lay_out_arguments(context.btf, function),
                      CallNames::PlaceKind::call)
      .compile();
}

Result<CallPrograms> compile_entry(const Instrument& instrument, const Prototype& function,
                                   const CallContext& context) {
  auto made = FKT_TRY(
      CallCompiler(instrument, function, context, lay_out_arguments(context.btf, function))
          .compile_at_once([](std::uint32_t) { return fkt_entry_rules(); }, "a function's entry"));
  CallPrograms programs;
  programs.entry = std::move(made.block);
  programs.fields = std::move(made.fields);
  return programs;
}

Result<PointProgram> compile_instruction(const Instrument& instrument, const CallContext& context) {
  const Prototype none;
  return CallCompiler(instrument, none, context, {}, CallNames::PlaceKind::instruction)
      .compile_at_once([](std::uint32_t) { return fkt_instruction_rules(); }, "an instruction");
}

Result<CallPrograms> compile_user_entry(const Instrument& instrument, const CallContext& context) {
  const Prototype none;
  auto made = FKT_TRY(
      CallCompiler(instrument, none, context, {}, CallNames::PlaceKind::user)
          .compile_at_once([](std::uint32_t) { return fkt_user_rules(); },
                           context.probe_arguments != nullptr ? "a probe" : "a function's entry"));
  CallPrograms programs;
  programs.entry = std::move(made.block);
  programs.fields = std::move(made.fields);
  programs.measured = std::move(made.measured);
  return programs;
}

Result<CallPrograms> compile_user_call(const Instrument& instrument, const CallContext& context) {
  const Prototype none;
  return CallCompiler(instrument, none, context, {}, CallNames::PlaceKind::user).compile();
}

Result<PointProgram> compile_point(const Instrument& instrument, const Prototype& point,
                                   const CallContext& context, const PointRecord* record) {
  ArgumentLayout layout;
  for (const Prototype::Argument& argument : point.arguments) {
    const auto word = static_cast<std::uint8_t>(layout.arguments.size());
    if (word == FKT_POINT_ARGUMENTS) {
      return Error{ErrorCode::usage,
                   "it has more than " + std::to_string(FKT_POINT_ARGUMENTS) + " arguments"};
    }
    const Type type = context.btf.type(argument.type);
    if (type.kind == TypeKind::structure || type.bytes > 8) {
      return Error{ErrorCode::usage, "it passes " + context.btf.name(argument.type) + " by value"};
    }
    layout.arguments.push_back({word, 1});
  }
  const auto arguments = static_cast<__u32>(point.arguments.size());
  return CallCompiler(instrument, point, context, std::move(layout), CallNames::PlaceKind::function,
                      record)
      .compile_at_once([=](std::uint32_t bytes) { return fkt_point_rules(arguments, bytes); },
                       "a tracepoint");
}

}  // namespace fkt
