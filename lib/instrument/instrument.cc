// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/instrument.h"

#include <algorithm>

#include "lib/query/lexer.h"

namespace fkt {
namespace {

constexpr std::size_t kLongest = 4096;   // characters of the line
constexpr std::size_t kMostValues = 16;  // that are recorded with a hit
constexpr std::string_view kBlanks = " \t", kBeforeWord = " \t)";

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

// The line, cut at the words "as", "if" and "do". Without a word, its piece has no column.
struct Parts {
  Piece place, async, condition, action;
};

// Returns the position at which the word occurs as a word of its own, outside of quotation marks
// and parentheses, and not behind a backslash; npos: nowhere.
std::size_t find_word(std::string_view text, std::string_view word) {
  Lexer lexer({text, 0});
  for (int depth = 0; !lexer.at_end();) {
    const std::size_t at = lexer.column();
    const std::size_t end = at + word.size();
    if (lexer.take("(")) {
      depth++;
    } else if (lexer.take(")")) {
      depth--;
    } else if (lexer.take_quoted().empty() && lexer.take_until("\"'()") == word && depth <= 0 &&
               (at == 0 || kBeforeWord.find(text[at - 1]) != kBeforeWord.npos) &&
               (end == text.size() || kBlanks.find(text[end]) != kBlanks.npos)) {
      return at;
    }
  }
  return text.npos;
}

Result<Parts> cut(Piece line) {
  const std::string_view text = line.text;
  const std::size_t end = text.size();
  const std::size_t first_if = find_word(text, "if"), action = std::min(find_word(text, "do"), end);
  if (action != end && first_if != text.npos && first_if > action) {
    return at_column(line.column + first_if,
                     "\"if\" stands behind \"do\": write the condition before the action");
  }
  const std::size_t condition = std::min(first_if, action);
  const auto part = [&](std::size_t from, std::size_t to) {
    return Piece{text.substr(from, to - from), line.column + from};
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
  ValueParser(Lexer& lexer, std::vector<FetchedValue>& values) : lexer_(lexer), values_(values) {}

  // Parses "(VALUE, ...) ret", both of which may be missing.
  Status parse() {
    if (lexer_.take("(")) {
      do {
        FKT_TRY(take(false));
      } while (lexer_.take(","));
      if (!lexer_.take(")")) return lexer_.expected("\",\" or \")\"");
    }
    if (lexer_.peek() == 'r') {
      FKT_TRY(take(true));
    }
    if (!lexer_.at_end()) return lexer_.expected("\"(\", \"ret\", \"as\", \"if\" or \"do\"");
    return Done{};
  }

 private:
  Status take(bool of_result) {
    FetchedValue value;
    value.of_result = of_result;
    std::size_t column = lexer_.column();
    std::string_view text = lexer_.take_until(":,()=");
    if (text.empty()) return lexer_.expected("an argument's name");
    if (!of_result && lexer_.take("=")) {
      const auto wrong = std::ranges::find_if_not(text, is_name_character);
      if (wrong != text.end()) {
        return at_column(column, in_quotes(text) + " is no name: letters, digits and \"_\"");
      }
      value.name = text;
      column = lexer_.column();
      text = lexer_.take_until(":,()");
      if (text.empty()) return lexer_.expected("what " + value.name + " is");
    }
    value.path = FKT_TRY(FieldPath::parse(text, column));
    if (of_result && value.path.root != "ret") {
      return at_column(column,
                       in_quotes(text) + " where \"ret\", \"as\", \"if\" or \"do\" should stand");
    }
    FKT_TRY(form(value));
    if (values_.size() == kMostValues) {
      return at_column(column, "too many values: at most " + std::to_string(kMostValues));
    }
    values_.push_back(std::move(value));
    return Done{};
  }

  Status form(FetchedValue& value) {
    if (!lexer_.take(":")) return Done{};
    const std::size_t column = lexer_.column();
    const std::string_view word = lexer_.take_word();
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

  Lexer& lexer_;
  std::vector<FetchedValue>& values_;
};

Status parse_place_part(Piece part, Instrument& instrument) {
  Lexer lexer(part);
  const std::size_t column = lexer.column();
  instrument.place = FKT_TRY(parse_place(lexer.take_until("("), column));
  return ValueParser(lexer, instrument.values).parse();
}

// Parses "as begin KIND by VALUE on VALUE".
Status parse_async(Piece part, Instrument& instrument) {
  Lexer lexer(part);
  AsyncPart async;
  async.column = part.column;
  lexer.take_word();
  const std::size_t column = lexer.column();
  const std::string_view role = lexer.take_word();
  if (role != "begin" && role != "end") {
    return at_column(column, in_quotes(role) + " where \"begin\" or \"end\" should stand");
  }
  async.begins = role == "begin";
  async.kind = lexer.take_word();
  if (async.kind.empty()) return lexer.expected("a name for what " + std::string(role) + "s");
  const std::size_t by = lexer.column();
  if (lexer.take_word() != "by") {
    return at_column(by,
                     "\"by\" and a recorded value should stand behind " + in_quotes(async.kind));
  }
  async.match = lexer.take_until(":,()");
  if (async.match.empty()) return lexer.expected("a recorded value's name");
  if (!lexer.at_end()) {
    const std::size_t behind = lexer.column();
    if (lexer.take_word() != "on") {
      return at_column(
          behind, "only \"on\" and a recorded value can stand behind " + in_quotes(async.match));
    }
    async.lane = lexer.take_until(":,()");
    if (async.lane.empty()) return lexer.expected("a recorded value's name");
  }
  if (!lexer.at_end()) return lexer.expected("\"if\" or \"do\"");
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

Result<Instrument> Instrument::parse(std::string_view text, std::size_t column) {
  if (text.size() > kLongest) {
    return at_column(column + kLongest,
                     "the line is too long: at most " + std::to_string(kLongest) + " characters");
  }
  const auto parts = FKT_TRY(cut({text, column}));
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
  } else if (instrument.place.is_every && instrument.values.empty() && !instrument.async) {
    instrument.action.kind = Action::Kind::count;
  }
  if (instrument.async && !instrument.action.records()) {
    return at_column(instrument.async->column,
                     "only events that are recorded can begin or end something: \"do record\"");
  }
  return instrument;
}

}  // namespace fkt
