// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/instrument.h"

#include <algorithm>

#include "lib/instrument/line_scanner.h"

namespace fkt {
namespace {

constexpr std::size_t kLongest = 4096;   // characters of the line
constexpr std::size_t kMostValues = 16;  // that are recorded with a hit

// What a number can be shown as: types of fields in a catalogue.
constexpr std::string_view kNumberForms[] = {"x", "addr", "dev", "ip4", "port"};

// Types of numbers in user programs.
struct NumberType {
  std::string_view name;
  std::uint8_t bits;
  bool is_signed;
};
constexpr NumberType kNumberTypes[] = {
    {"int", 32, true}, {"uint", 32, false}, {"long", 64, true}, {"ulong", 64, false}};

// Returns "\"dev\" or \"x\"".
std::string number_forms() {
  std::string text;
  for (const std::string_view form : kNumberForms) {
    if (!text.empty()) text += form == kNumberForms[std::size(kNumberForms) - 1] ? " or " : ", ";
    text += in_quotes(form);
  }
  return text;
}

// A part of the line. Its first character is in column `column`, from 1.
struct Part {
  std::string_view text;
  std::size_t column = 0;  // 0: the line has no such part
};

// The line, cut at the words "as", "if" and "do".
struct Parts {
  Part place, async, condition, action;
};

// Returns the position at which the word occurs as a word of its own, outside of quotation marks
// and parentheses, and not behind a backslash; npos: nowhere.
std::size_t find_word(std::string_view text, std::string_view word) {
  char quote = '\0';
  int depth = 0;
  std::size_t behind = text.npos;  // a blank that belongs to a name
  for (std::size_t at = 0; at < text.size(); at++) {
    const char c = text[at];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
      continue;
    }
    if (c == '\\') {
      behind = ++at + 1;
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    if (c == '(') depth++;
    if (c == ')') depth--;
    if (depth > 0 || !text.substr(at).starts_with(word)) continue;
    const std::size_t end = at + word.size();
    const bool begins =
        at == 0 ||
        (at != behind && (text[at - 1] == ' ' || text[at - 1] == '\t' || text[at - 1] == ')'));
    if (begins && (end == text.size() || text[end] == ' ' || text[end] == '\t')) return at;
  }
  return text.npos;
}

Result<Parts> cut(std::string_view text) {
  const std::size_t end = text.size();
  const std::size_t first_if = find_word(text, "if"), action = std::min(find_word(text, "do"), end);
  if (action != end && first_if != text.npos && first_if > action) {
    return at_column(first_if + 1,
                     "\"if\" stands behind \"do\": write the condition before the action");
  }
  const std::size_t condition = std::min(first_if, action);
  const auto part = [&](std::size_t from, std::size_t to) {
    return Part{text.substr(from, to - from), from + 1};
  };
  const std::size_t async = std::min(find_word(text.substr(0, condition), "as"), condition);
  Parts parts;
  parts.place = part(0, async);
  if (async != condition) parts.async = part(async, condition);
  if (condition != action) parts.condition = part(condition + 2, action);
  if (action != end) parts.action = part(action + 2, end);
  return parts;
}

class ValueParser {
 public:
  ValueParser(LineScanner& scanner, std::vector<FetchedValue>& values)
      : scanner_(scanner), values_(values) {}

  // Parses "(VALUE, ...) ret", both of which may be missing.
  Status parse() {
    if (scanner_.take('(')) {
      do {
        FKT_TRY(take(false));
      } while (scanner_.take(','));
      if (!scanner_.take(')')) return scanner_.expected("\",\" or \")\"");
    }
    if (scanner_.peek() == 'r') {
      FKT_TRY(take(true));
    }
    if (!scanner_.at_end()) return scanner_.expected("\"(\", \"ret\", \"as\", \"if\" or \"do\"");
    return Done{};
  }

 private:
  Status take(bool of_result) {
    FetchedValue value;
    value.of_result = of_result;
    std::size_t column = scanner_.column();
    std::string_view text = scanner_.take_until(":,()=");
    if (text.empty()) return scanner_.expected("an argument's name");
    if (!of_result && scanner_.take('=')) {
      const auto wrong = std::ranges::find_if_not(text, is_name_character);
      if (wrong != text.end()) {
        return at_column(column, in_quotes(text) + " is no name: letters, digits and \"_\"");
      }
      value.name = text;
      column = scanner_.column();
      text = scanner_.take_until(":,()");
      if (text.empty()) return scanner_.expected("what " + value.name + " is");
    }
    value.path = FKT_TRY(FieldPath::parse(text, column));
    if (of_result && value.path.root != "ret") {
      return at_column(column, "\"" + std::string(text) +
                                   "\" where \"ret\", \"as\", \"if\" or \"do\" should stand");
    }
    FKT_TRY(form(value));
    if (values_.size() == kMostValues) {
      return at_column(column, "too many values: at most " + std::to_string(kMostValues));
    }
    values_.push_back(std::move(value));
    return Done{};
  }

  Status form(FetchedValue& value) {
    if (!scanner_.take(':')) return Done{};
    const std::size_t column = scanner_.column();
    const std::string_view word = scanner_.take_word();
    if (word == "string") {
      value.form = FetchedValue::Form::string;
    } else if (word == "number") {
      value.form = FetchedValue::Form::number;
    } else if (word == "inode") {
      value.form = FetchedValue::Form::inode;
    } else if (word == "ip6") {
      value.form = FetchedValue::Form::ip6;
    } else if (std::ranges::find(kNumberForms, word) != std::end(kNumberForms)) {
      value.form = FetchedValue::Form::number;
      value.shown_as = word;
    } else if (const auto* const type = std::ranges::find(kNumberTypes, word, &NumberType::name);
               type != std::end(kNumberTypes)) {
      value.form = FetchedValue::Form::number;
      value.bits = type->bits;
      value.is_signed = type->is_signed;
    } else {
      return at_column(column, "a value's form is \"string\", \"number\", \"inode\", \"ip6\", " +
                                   number_forms());
    }
    return Done{};
  }

  LineScanner& scanner_;
  std::vector<FetchedValue>& values_;
};

Status parse_place_part(Part part, Instrument& instrument) {
  LineScanner scanner(part.text, part.column);
  const std::size_t column = scanner.column();
  instrument.place = FKT_TRY(parse_place(scanner.take_until("("), column));
  return ValueParser(scanner, instrument.values).parse();
}

// Parses "as begin KIND by VALUE on VALUE".
Status parse_async(Part part, Instrument& instrument) {
  LineScanner scanner(part.text, part.column);
  AsyncPart async;
  async.column = part.column;
  scanner.take_word();
  const std::size_t column = scanner.column();
  const std::string_view role = scanner.take_word();
  if (role != "begin" && role != "end") {
    return at_column(column, in_quotes(role) + " where \"begin\" or \"end\" should stand");
  }
  async.begins = role == "begin";
  async.kind = scanner.take_word();
  if (async.kind.empty()) return scanner.expected("a name for what " + std::string(role) + "s");
  const std::size_t by = scanner.column();
  if (scanner.take_word() != "by") {
    return at_column(by,
                     "\"by\" and a recorded value should stand behind " + in_quotes(async.kind));
  }
  async.match = scanner.take_until(":,()");
  if (async.match.empty()) return scanner.expected("a recorded value's name");
  if (!scanner.at_end()) {
    const std::size_t behind = scanner.column();
    if (scanner.take_word() != "on") {
      return at_column(
          behind, "only \"on\" and a recorded value can stand behind " + in_quotes(async.match));
    }
    async.lane = scanner.take_until(":,()");
    if (async.lane.empty()) return scanner.expected("a recorded value's name");
  }
  if (!scanner.at_end()) return scanner.expected("\"if\" or \"do\"");
  if (instrument.place.is_call()) {
    return at_column(async.column, "a call has its begin and its end already");
  }
  if (instrument.place.kind == Place::Kind::function &&
      instrument.place.point == Place::Point::both) {
    return at_column(async.column, "the entry and the exit would both be " +
                                       std::string(role == "begin" ? "a begin" : "an end") +
                                       ": write :entry or :exit behind the function's name");
  }
  instrument.async = std::move(async);
  return Done{};
}

}  // namespace

Result<Instrument> Instrument::parse(std::string_view text) {
  if (text.size() > kLongest) {
    return at_column(kLongest + 1,
                     "the line is too long: at most " + std::to_string(kLongest) + " characters");
  }
  const auto parts = FKT_TRY(cut(text));
  Instrument instrument;
  instrument.text = text;
  FKT_TRY(parse_place_part(parts.place, instrument));
  if (parts.async.column != 0) {
    FKT_TRY(parse_async(parts.async, instrument));
  }
  if (parts.condition.column != 0) {
    instrument.condition = FKT_TRY(
        Expression::parse(parts.condition.text, ExpressionSyntax::hit, parts.condition.column));
  }
  if (parts.action.column != 0) {
    instrument.action = FKT_TRY(parse_action(parts.action.text, parts.action.column));
  }
  if (instrument.async && !instrument.action.records()) {
    return at_column(instrument.async->column,
                     "only events that are recorded can begin or end something: \"do record\"");
  }
  return instrument;
}

}  // namespace fkt
