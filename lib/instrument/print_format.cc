// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/print_format.h"

#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/parse.h"
#include "lib/query/lexer.h"

namespace fkt {
namespace {

constexpr int kDeepest = 200;  // parentheses around an expression
constexpr std::string_view kModifiers = "-+ #0123456789.*hlLqjzt";  // of a conversion

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Returns where the string, or the part in brackets, ends that begins at `at`: behind its last
// character; npos: it does not end.
std::size_t end_of(std::string_view text, std::size_t at) {
  if (text[at] == '"') {
    for (std::size_t i = at + 1; i < text.size(); i++) {
      if (text[i] == '\\') {
        i++;
      } else if (text[i] == '"') {
        return i + 1;
      }
    }
    return text.npos;
  }
  std::size_t depth = 0;
  for (std::size_t i = at; i < text.size(); i++) {
    const char c = text[i];
    if (c == '"') {
      const std::size_t end = end_of(text, i);
      if (end == text.npos) return end;
      i = end - 1;
    } else if (c == '(' || c == '{' || c == '[') {
      depth++;
    } else if (c == ')' || c == '}' || c == ']') {
      if (--depth == 0) return i + 1;
    }
  }
  return text.npos;
}

// Takes the text apart at `separator` outside of strings and brackets.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (c == separator) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    } else if (c == '"' || c == '(' || c == '{' || c == '[') {
      const std::size_t end = end_of(text, i);
      if (end == text.npos) break;
      i = end - 1;
    }
  }
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

// Takes string literals that stand next; their text without the quotation marks.
std::string take_strings(std::string_view& text) {
  std::string out;
  for (text = trimmed(text); !text.empty() && text[0] == '"'; text = trimmed(text)) {
    const std::size_t end = end_of(text, 0);
    if (end == text.npos) break;
    out += text.substr(1, end - 2);
    text.remove_prefix(end);
  }
  return out;
}

// ---- constants ----

class Constants {
 public:
  explicit Constants(std::string_view text) : lexer_({text, 1}) {}

  std::optional<std::uint64_t> all() {
    const std::optional<std::uint64_t> value = binary(0);
    return lexer_.at_end() ? value : std::nullopt;
  }

 private:
  using Value = std::optional<std::uint64_t>;

  struct Operator {
    std::string_view text;
    int level;
  };
  static constexpr Operator kOperators[] = {{"|", 0},  {"^", 1}, {"&", 2}, {"<<", 3},
                                            {">>", 3}, {"+", 4}, {"-", 4}, {"*", 5}};
  static constexpr int kLevels = 6;

  static std::uint64_t calculated(std::string_view op, std::uint64_t left, std::uint64_t right) {
    switch (op[0]) {
      case '|':
        return left | right;
      case '^':
        return left ^ right;
      case '&':
        return left & right;
      case '<':
        return left << (right & 63);
      case '>':
        return left >> (right & 63);
      case '+':
        return left + right;
      case '-':
        return left - right;
      default:
        return left * right;
    }
  }

  Value binary(int level) {
    if (level == kLevels) return unary();
    Value left = binary(level + 1);
    while (left) {
      const auto* const op = std::ranges::find_if(kOperators, [&](const Operator& one) {
        return one.level == level && lexer_.take(one.text);
      });
      if (op == std::end(kOperators)) break;
      const Value right = binary(level + 1);
      if (!right) return right;
      left = calculated(op->text, *left, *right);
    }
    return left;
  }

  Value unary() {
    if (depth_ == kDeepest) return {};
    depth_++;
    const Value value = signed_one();
    depth_--;
    return value;
  }

  Value signed_one() {
    if (lexer_.take("-")) {
      const Value value = unary();
      return value ? Value(-*value) : value;
    }
    if (lexer_.take("~")) {
      const Value value = unary();
      return value ? Value(~*value) : value;
    }
    return lexer_.peek() == '(' ? in_brackets() : number();
  }

  // An expression in parentheses, or a cast and what it is of. Casts to smaller types than the
  // constant's do not occur.
  Value in_brackets() {
    const std::string_view rest = lexer_.rest();
    const std::size_t end = end_of(rest, 0);
    if (end == rest.npos) return {};
    const std::string_view inside = trimmed(rest.substr(1, end - 2));
    const bool is_cast = !inside.empty() && !(inside[0] >= '0' && inside[0] <= '9') &&
                         std::ranges::all_of(inside, [](char c) {
                           return is_name_character(c) || is_blank(c) || c == '*';
                         });
    if (is_cast) {
      lexer_.take(rest.substr(0, end));
      return unary();
    }
    lexer_.take("(");
    const Value value = binary(0);
    return lexer_.take(")") ? value : std::nullopt;
  }

  Value number() {
    const std::string_view quoted = lexer_.take_quoted();
    if (!quoted.empty()) {
      const bool is_character = quoted.size() == 3 && quoted[0] == '\'';
      return is_character ? Value(static_cast<unsigned char>(quoted[1])) : Value();
    }
    std::string_view word = lexer_.take_word();
    word = word.substr(0, word.find_last_not_of("uUlL") + 1);
    const bool hex = word.starts_with("0x") || word.starts_with("0X");
    const int base = hex ? 16 : word.starts_with("0") ? 8 : 10;
    std::uint64_t value = 0;
    return parse_number(word.substr(hex ? 2 : 0), value, base) ? Value(value) : Value();
  }

  Lexer lexer_;
  int depth_ = 0;
};

// ---- fields ----

// Takes off casts and parentheses around the whole.
std::string_view bare(std::string_view text) {
  text = trimmed(text);
  for (int i = 0; i < kDeepest && !text.empty() && text[0] == '('; i++, text = trimmed(text)) {
    const std::size_t end = end_of(text, 0);
    if (end == text.npos) break;
    text = end == text.size() ? text.substr(1, text.size() - 2) : text.substr(end);
  }
  return text;
}

EventField* field_named(std::string_view name, std::span<EventField> fields) {
  const auto found = std::ranges::find(fields, name, &EventField::name);
  return found == fields.end() || found->form != EventField::Form::number ? nullptr : &*found;
}

// Returns the field that the expression is, apart from a constant mask; nullptr: it is more.
EventField* masked_field(std::string_view text, std::span<EventField> fields,
                         std::optional<std::uint64_t>* mask = nullptr) {
  std::vector<std::string_view> parts = split(bare(text), '&');
  if (parts.size() > 2) return nullptr;
  const std::string_view name = bare(parts[0]);
  if (!name.starts_with("REC->")) return nullptr;
  if (parts.size() == 2) {
    const std::optional<std::uint64_t> value = constant_value(parts[1]);
    if (!value) return nullptr;
    if (mask != nullptr) *mask = value;
  }
  return field_named(trimmed(name.substr(5)), fields);
}

// Returns the pairs of `{ number, "name" }, ...`; a number may be a name in the field's
// enumeration.
std::vector<ValueNames::Name> pairs_of(std::span<const std::string_view> parts,
                                       const EventField& field, const Enumerators& enumerators) {
  std::vector<ValueNames::Name> pairs;
  for (std::string_view part : parts) {
    if (part.size() < 2 || part[0] != '{' || part.back() != '}') continue;
    const std::vector<std::string_view> pair = split(part.substr(1, part.size() - 2), ',');
    if (pair.size() != 2) continue;
    std::optional<std::uint64_t> number = constant_value(pair[0]);
    if (!number && enumerators && !field.enumeration.empty()) {
      number = enumerators(field.enumeration, pair[0]);
    }
    std::string_view text = pair[1];
    std::string name = take_strings(text);
    const bool is_plain = text.empty() && !name.empty() &&
                          std::ranges::none_of(name, [](char c) { return c < ' ' || c == '\\'; });
    if (number && is_plain) pairs.emplace_back(*number, std::move(name));
  }
  return pairs;
}

class PrintFormat {
 public:
  PrintFormat(std::span<EventField> fields, const Enumerators& enumerators)
      : fields_(fields), enumerators_(enumerators) {}

  void argument(std::string_view text, std::string_view conversion) {
    if (call(text, "__print_symbolic", false) || call(text, "__print_flags", true) ||
        choice(text)) {
      return;
    }
    const std::string_view name = bare(alternative(text));
    if (!name.starts_with("REC->") || conversion.empty()) return;
    EventField* const field = field_named(name.substr(5), fields_);
    if (field == nullptr || field->shown == EventField::Shown::device) return;
    if (conversion[0] == 'p') field->shown = EventField::Shown::address;
    if (conversion[0] == 'x' || conversion[0] == 'X') field->shown = EventField::Shown::hex;
  }

 private:
  // A call of one of the functions that print names.
  bool call(std::string_view text, std::string_view function, bool flags) {
    const std::size_t at = text.find(function);
    if (at == text.npos) return false;
    const std::size_t open = text.find('(', at);
    const std::size_t end = open == text.npos ? open : end_of(text, open);
    if (end == text.npos) return true;
    const std::string_view inside = text.substr(open + 1, end - open - 2);
    const std::vector<std::string_view> parts = split(inside, ',');
    EventField* const field = masked_field(parts[0], fields_);
    if (field == nullptr) return true;
    std::vector<ValueNames::Name> pairs =
        pairs_of(std::span(parts).subspan(1), *field, enumerators_);
    if (!flags) {
      std::ranges::move(pairs, std::back_inserter(field->names.values));
      return true;
    }
    std::ranges::move(pairs, std::back_inserter(field->names.flags));
    // "... ? __print_flags(...) : "none"" is how a value without flags is printed.
    std::string_view rest = trimmed(text.substr(end));
    const bool is_choice = rest.starts_with(":") && text.substr(0, at).find('?') != text.npos;
    if (!is_choice) return true;
    rest.remove_prefix(1);
    const std::string none = take_strings(rest);
    if (!none.empty()) field->names.flags.emplace_back(0, none);
    return true;
  }

  // Of `CONDITION ? REC->field : CONSTANT`, the field; of another text, the text.
  static std::string_view alternative(std::string_view text) {
    const std::vector<std::string_view> parts = split(text, '?');
    if (parts.size() != 2) return text;
    const std::vector<std::string_view> of_both = split(parts[1], ':');
    return of_both.size() == 2 && constant_value(of_both[1]) ? of_both[0] : text;
  }

  // `REC->field & MASK ? "name" : ""` is a flag, too.
  bool choice(std::string_view text) {
    const std::vector<std::string_view> parts = split(text, '?');
    if (parts.size() != 2 || parts[1].empty() || parts[1][0] != '"') return false;
    std::optional<std::uint64_t> mask;
    EventField* const field = masked_field(parts[0], fields_, &mask);
    std::string_view rest = parts[1];
    const std::string name = take_strings(rest);
    if (field != nullptr && mask && *mask != 0 && !name.empty()) {
      field->names.flags.emplace_back(*mask, name);
    }
    return true;
  }

  std::span<EventField> fields_;
  const Enumerators& enumerators_;
};

// Returns the letters of the conversions, "" for a width that is an argument.
std::vector<std::string_view> conversions(std::string_view format) {
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < format.size(); i++) {
    if (format[i] != '%') continue;
    i++;
    while (i < format.size() && kModifiers.find(format[i]) != kModifiers.npos) {
      if (format[i] == '*') found.emplace_back();
      i++;
    }
    if (i < format.size() && format[i] != '%') found.push_back(format.substr(i, 1));
  }
  return found;
}

}  // namespace

std::optional<std::uint64_t> constant_value(std::string_view expression) {
  return Constants(expression).all();
}

void apply_print_format(std::string_view print, std::span<EventField> fields,
                        const Enumerators& enumerators) {
  const std::string format = take_strings(print);
  if (print.empty() || print[0] != ',') return;
  const std::vector<std::string_view> letters = conversions(format);
  const std::vector<std::string_view> arguments = split(print.substr(1), ',');
  PrintFormat made(fields, enumerators);
  for (std::size_t i = 0; i < arguments.size(); i++) {
    made.argument(arguments[i], i < letters.size() ? letters[i] : std::string_view());
  }
}

}  // namespace fkt
