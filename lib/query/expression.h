// SPDX-License-Identifier: GPL-2.0-only
// Parser of the expressions with which users select events; the result is a tree.
// lib/query/bound_expression.h looks up the names in a recording.
//
//   expression  = conjunction { "||" conjunction }
//   conjunction = one { "&&" one }
//   one         = "!" one | "(" expression ")" | FIELD OPERATOR value
//   OPERATOR    = "==" "!=" "<" "<=" ">" ">=" "~" (fits the pattern) "!~"
//   value       = 42 | -2 | 0x2a | 1.5ms (ns us ms s) | -ENOENT | "text" | 'text' | word
//
// The condition of an instrument (ExpressionSyntax::hit) has more: a field, and a word that is a
// value, may lead through structures (lib/query/field_path.h); and
//
//   one         = FLAG | 1/N | ...    another instrument set the flag; one hit in N, by chance
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/query/lexer.h"

namespace fkt {

enum class Comparison : std::uint8_t {
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal,
  like,
  unlike,
  has_bits,  // any of the literal's bits
};

struct Literal {
  enum class Kind : std::uint8_t { number, time, text };
  Kind kind = Kind::number;
  bool negative = false;
  std::uint64_t number = 0;  // without its sign
  std::string text;          // Kind::text: the text; Kind::time: as typed, "1.5ms"
  bool quoted = false;       // of Kind::text: it was in quotation marks
};

struct ExpressionNode {
  enum class Kind : std::uint8_t { conjunction, disjunction, negation, comparison, flag, chance };
  Kind kind = Kind::comparison;
  std::uint32_t left = 0, right = 0;  // operands; negation has only `left`
  std::string field;                  // of a comparison; the flag's name
  Comparison comparison = Comparison::equal;
  Literal value;                                   // of a comparison; chance: the number N
  std::size_t field_column = 0, value_column = 0;  // columns of the two in the text, from 1
};

enum class ExpressionSyntax : std::uint8_t {
  event,  // of events in a recording
  hit,    // of an instrument's hits
};

class Expression {
 public:
  // first_column: the column of the text's first character in the line that the user typed. Error
  // (usage): says what is wrong and in which column.
  static Result<Expression> parse(std::string_view text,
                                  ExpressionSyntax syntax = ExpressionSyntax::event,
                                  std::size_t first_column = 1);

  // Returns the expression that is true where both are.
  static Expression both(const Expression& one, const Expression& other);

  const std::string& text() const { return text_; }
  // Operands come before their operator, so the last node is the whole expression. Never empty.
  const std::vector<ExpressionNode>& nodes() const { return nodes_; }

 private:
  friend class ExpressionParser;
  std::string text_;
  std::vector<ExpressionNode> nodes_;
};

// Returns whether somebody who typed this means the name: as it is, or as a terminal shows it
// (TextWriter::escaped()).
bool is_meant(std::string_view name, std::string_view typed);

// Returns true if the whole `text` fits the pattern: `*` stands for any number of characters, `?`
// for one. What else is in it may be typed as for is_meant().
bool fits(std::string_view text, std::string_view pattern);

// Returns an error if a time is compared with a number that has no unit; zero needs none.
Status check_time_has_unit(const ExpressionNode& node);

}  // namespace fkt
