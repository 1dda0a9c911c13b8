// SPDX-License-Identifier: GPL-2.0-only
#include "lib/query/expression.h"

#include <optional>
#include <utility>

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/base/suggest.h"
#include "lib/format/clocks.h"
#include "lib/format/number_names.h"

namespace fkt {
namespace {

constexpr unsigned kDeepest = 100;            // parentheses and "!": the parser recurses for each
constexpr std::size_t kMost = 1000;           // nodes: the tree is walked recursively, too
constexpr std::int64_t kLastError = 4095;     // the kernel's MAX_ERRNO
constexpr std::uint64_t kMostChance = 65535;  // of 1/N: the programs' limit (fkt/program.h)

enum class TokenKind {
  end,
  word,
  number,
  text,
  comparison,
  both,
  either,
  no,
  open,
  close,
  unclosed,
  wrong
};

struct ExpressionToken {
  TokenKind kind = TokenKind::end;
  std::string_view text;  // of a quoted text: without the quotes
  Comparison comparison = Comparison::equal;
  std::size_t column = 0;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The text's tokens, one after the other.
class Tokens {
 public:
  Tokens(Piece text, ExpressionSyntax syntax)
      : lexer_(text), of_hit_(syntax == ExpressionSyntax::hit) {}

  ExpressionToken next() {
    ExpressionToken token;
    token.column = lexer_.column();
    if (lexer_.at_end()) return token;
    const char c = lexer_.peek();
    if (c == '"' || c == '\'') return quoted(token);
    if (is_digit(c) || c == '-') {
      token.kind = TokenKind::number;
      token.text = lexer_.take_while([this, first = true](std::string_view rest) mutable {
        const char d = rest[0];
        return std::exchange(first, false) || is_name_character(d) || d == '.' ||
               (of_hit_ && d == '/');
      });
      return token;
    }
    if (!is_name_character(c)) return sign(token);
    token.kind = TokenKind::word;
    token.text = lexer_.take_while([this](std::string_view rest) {
      return is_name_character(rest[0]) ? 1 : of_hit_ ? leads_on(rest) : 0;
    });
    return token;
  }

 private:
  // Returns the length of what joins the names of a path here: file.f_path, file->f_path, table[3],
  // req{io_kiocb}.file.
  static std::size_t leads_on(std::string_view rest) {
    if (rest.starts_with("->")) return 2;
    return std::string_view(".[]{}").find(rest[0]) != std::string_view::npos ? 1 : 0;
  }

  ExpressionToken quoted(ExpressionToken token) {
    token.text = lexer_.take_quoted();
    if (token.text.size() < 2 || token.text.front() != token.text.back()) {
      token.kind = TokenKind::unclosed;
    } else {
      token.kind = TokenKind::text;
      token.text = token.text.substr(1, token.text.size() - 2);
    }
    return token;
  }

  ExpressionToken sign(ExpressionToken token) {
    struct Sign {
      std::string_view text;
      TokenKind kind;
      Comparison comparison;
    };
    static constexpr Sign kSigns[] = {
        // longer ones first, as the first match is taken
        {"&&", TokenKind::both, {}},
        {"||", TokenKind::either, {}},
        {"==", TokenKind::comparison, Comparison::equal},
        {"!=", TokenKind::comparison, Comparison::unequal},
        {"!~", TokenKind::comparison, Comparison::unlike},
        {"<=", TokenKind::comparison, Comparison::less_equal},
        {">=", TokenKind::comparison, Comparison::greater_equal},
        {"<", TokenKind::comparison, Comparison::less},
        {">", TokenKind::comparison, Comparison::greater},
        {"~", TokenKind::comparison, Comparison::like},
        {"&", TokenKind::comparison, Comparison::has_bits},
        {"!", TokenKind::no, {}},
        {"(", TokenKind::open, {}},
        {")", TokenKind::close, {}},
    };
    for (const Sign& sign : kSigns) {
      if (!lexer_.take(sign.text)) continue;
      token.kind = sign.kind;
      token.comparison = sign.comparison;
      token.text = sign.text;
      return token;
    }
    token.kind = TokenKind::wrong;
    token.text = lexer_.rest().substr(0, 1);
    return token;
  }

  Lexer lexer_;
  bool of_hit_;
};

std::string shown(const ExpressionToken& token) {
  return token.kind == TokenKind::end ? "the end" : in_quotes(token.text);
}

// Parses "-ENOENT". Returns the error number without its sign.
Result<std::uint64_t> error_number(const ExpressionToken& token) {
  const std::string_view name = token.text.substr(1);
  std::vector<std::string> names;
  for (std::int64_t number = 1; number <= kLastError; number++) {
    const std::string_view known = NumberNames::error(-number);
    if (known.empty()) continue;
    if (known == name) return static_cast<std::uint64_t>(number);
    names.emplace_back(known);
  }
  return at_column(token.column,
                   "no error is called " + in_quotes(name) + did_you_mean(name, names));
}

Result<Literal> number_of(const ExpressionToken& token) {
  Literal value;
  std::string_view digits = token.text;
  value.negative = digits.starts_with('-');
  if (value.negative) digits.remove_prefix(1);
  if (value.negative && !digits.empty() && !is_digit(digits[0])) {
    value.number = FKT_TRY(error_number(token));
    return value;
  }
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex ? parse_number(digits.substr(2), value.number, 16) : parse_number(digits, value.number)) {
    return value;
  }
  // Only the syntax of the time is checked, so any clock frequency will do.
  if (hex || value.negative || !parse_duration(digits, 1e9)) {
    return at_column(token.column,
                     in_quotes(token.text) + " is no number (as 42, 0x2a, 1.5ms, -ENOENT)");
  }
  value.kind = Literal::Kind::time;
  value.text = digits;
  return value;
}

}  // namespace

Status check_time_has_unit(const ExpressionNode& node) {
  const Literal& value = node.value;
  if (value.kind != Literal::Kind::number || value.number == 0) return Done{};
  const std::string bare = std::to_string(value.number);
  return at_column(node.value_column, node.field + ": " + bare + " what? " + bare + "us, " + bare +
                                          "ms, " + bare + "s, " + bare + "cycles");
}

namespace {

bool fits_as_it_is(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0;
  // The last `*`, and where the text that it matches ends.
  std::size_t star = pattern.npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      p++;
      t++;
    } else if (star != pattern.npos) {  // the `*` matches one more character
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') p++;
  return p == pattern.size();
}

}  // namespace

bool is_meant(std::string_view name, std::string_view typed) {
  return name == typed || (typed.find("\\x") != typed.npos && name == unescaped(typed));
}

bool fits(std::string_view text, std::string_view pattern) {
  return fits_as_it_is(text, pattern) ||
         (pattern.find("\\x") != pattern.npos && fits_as_it_is(text, unescaped(pattern)));
}

// Recursive descent with one token of look-ahead, and one function per line of the grammar. Each
// returns its node's index; fail() stops the parsing at the first error.
class ExpressionParser {
 public:
  ExpressionParser(Piece text, ExpressionSyntax syntax)
      : tokens_(text, syntax), of_hit_(syntax == ExpressionSyntax::hit), token_(tokens_.next()) {
    expression_.text_ = text.text;
  }

  Result<Expression> parse() {
    any(0);
    if (!error_ && token_.kind != TokenKind::end) wrong("\"&&\", \"||\" or the end");
    if (error_) return *error_;
    return std::move(expression_);
  }

 private:
  using Kind = ExpressionNode::Kind;

  std::uint32_t add(ExpressionNode node) {
    if (expression_.nodes_.size() == kMost) {
      return fail(at_column(token_.column, "the expression is too long"));
    }
    expression_.nodes_.push_back(std::move(node));
    return static_cast<std::uint32_t>(expression_.nodes_.size() - 1);
  }
  std::uint32_t fail(Error error) {
    if (!error_) error_ = std::move(error);
    token_ = {};
    return 0;
  }
  std::uint32_t wrong(const std::string& expected) {
    if (token_.kind == TokenKind::unclosed) {
      return fail(at_column(token_.column, "the quotation mark is never closed"));
    }
    return fail(at_column(token_.column, shown(token_) + " where " + expected + " should stand"));
  }
  void advance() { token_ = tokens_.next(); }

  std::uint32_t any(unsigned depth) { return chain(Kind::disjunction, TokenKind::either, depth); }

  // Parses operands of one kind that are separated by tokens of the kind `between`.
  std::uint32_t chain(Kind kind, TokenKind between, unsigned depth) {
    const auto operand = [&] {
      return kind == Kind::disjunction ? chain(Kind::conjunction, TokenKind::both, depth)
                                       : one(depth);
    };
    std::uint32_t left = operand();
    while (!error_ && token_.kind == between) {
      advance();
      ExpressionNode node;
      node.kind = kind;
      node.left = left;
      node.right = operand();
      left = add(std::move(node));
    }
    return left;
  }

  std::uint32_t one(unsigned depth) {
    if (depth > kDeepest) return fail(at_column(token_.column, "nested too deeply"));
    if (token_.kind == TokenKind::no) {
      advance();
      ExpressionNode node;
      node.kind = Kind::negation;
      node.left = one(depth + 1);
      return error_ ? 0 : add(std::move(node));
    }
    if (of_hit_ && token_.kind == TokenKind::number) return chance();
    if (token_.kind != TokenKind::open) return comparison();
    advance();
    const std::uint32_t inner = any(depth + 1);
    if (!error_ && token_.kind != TokenKind::close) return wrong("\")\"");
    advance();
    return inner;
  }

  // Returns whether the tokens before this one form a complete test.
  bool ends_test() const {
    return token_.kind == TokenKind::end || token_.kind == TokenKind::both ||
           token_.kind == TokenKind::either || token_.kind == TokenKind::close;
  }

  std::uint32_t chance() {
    ExpressionNode node;
    node.kind = Kind::chance;
    node.value_column = token_.column;
    if (!token_.text.starts_with("1/") || !parse_number(token_.text.substr(2), node.value.number) ||
        node.value.number == 0 || node.value.number > kMostChance) {
      return fail(at_column(token_.column, fmt::format("{} is no chance: 1/1 to 1/{} are",
                                                       shown(token_), kMostChance)));
    }
    advance();
    return add(std::move(node));
  }

  // The instrument's action begins at this word.
  bool is_do() const { return of_hit_ && token_.kind == TokenKind::word && token_.text == "do"; }
  std::uint32_t do_stands_here() {
    return fail(at_column(token_.column,
                          "\"do\" begins the action: a text needs quotation marks, "
                          "and no flag is called so"));
  }

  std::uint32_t comparison() {
    if (token_.kind != TokenKind::word) return wrong("a field (as name, cpu, duration)");
    if (is_do()) return do_stands_here();
    ExpressionNode node;
    node.field = token_.text;
    node.field_column = token_.column;
    advance();
    if (of_hit_ && ends_test()) {
      node.kind = Kind::flag;
      return add(std::move(node));
    }
    if (token_.kind != TokenKind::comparison) return wrong("an operator (as ==, <, ~)");
    node.comparison = token_.comparison;
    advance();
    if (is_do()) return do_stands_here();
    node.value_column = token_.column;
    if (token_.kind == TokenKind::word || token_.kind == TokenKind::text) {
      node.value.kind = Literal::Kind::text;
      node.value.text = token_.text;
      node.value.quoted = token_.kind == TokenKind::text;
    } else if (token_.kind == TokenKind::number) {
      Result<Literal> value = number_of(token_);
      if (!value) return fail(value.error());
      node.value = std::move(*value);
    } else {
      return wrong("a value");
    }
    advance();
    return add(std::move(node));
  }

  Tokens tokens_;
  bool of_hit_;
  ExpressionToken token_;
  Expression expression_;
  std::optional<Error> error_;
};

Result<Expression> Expression::parse(std::string_view text, ExpressionSyntax syntax,
                                     std::size_t first_column) {
  return ExpressionParser({text, first_column}, syntax).parse();
}

Expression Expression::both(const Expression& one, const Expression& other) {
  Expression made = one;
  made.text_ = '(' + one.text_ + ") && (" + other.text_ + ')';
  const auto first = static_cast<std::uint32_t>(one.nodes_.size());
  for (ExpressionNode node : other.nodes_) {
    node.left += first;
    node.right += first;
    made.nodes_.push_back(std::move(node));
  }
  ExpressionNode& root = made.nodes_.emplace_back();
  root.kind = ExpressionNode::Kind::conjunction;
  root.left = first - 1;
  root.right = static_cast<std::uint32_t>(made.nodes_.size()) - 2;
  return made;
}

}  // namespace fkt
