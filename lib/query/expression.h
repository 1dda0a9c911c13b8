// SPDX-License-Identifier: GPL-2.0-only
// Parser of the expressions with which users select events; the result is a tree. What the names
// mean in a recording is found out by lib/query/bound_expression.h.
//
//   expression = all { "||" all }
//   all        = one { "&&" one }
//   one        = "!" one | "(" expression ")" | FIELD OPERATOR value
//   OPERATOR   = "==" "!=" "<" "<=" ">" ">=" "~" (fits the pattern) "!~"
//   value      = 42 | -2 | 0x2a | 1.5ms (ns us ms s) | -ENOENT | "text" | 'text' | word
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"

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
};

struct Literal {
  enum class Kind : std::uint8_t { number, time, text };
  Kind kind = Kind::number;
  bool negative = false;
  std::uint64_t number = 0;  // without its sign
  std::string text;          // Kind::text: the text; Kind::time: as typed, "1.5ms"
};

struct ExpressionNode {
  enum class Kind : std::uint8_t { all, any, no, comparison };
  Kind kind = Kind::comparison;
  std::uint32_t left = 0, right = 0;  // operands of all and any; no has only `left`
  std::string field;                  // of a comparison
  Comparison comparison = Comparison::equal;
  Literal value;
  std::size_t field_column = 0, value_column = 0;  // columns of the two in the text, from 1
};

class Expression {
 public:
  // Error (usage): says what is wrong and in which column.
  static Result<Expression> parse(std::string_view text);

  const std::string& text() const { return text_; }
  // Operands come before their operator, so the last node is the whole expression. Never empty.
  const std::vector<ExpressionNode>& nodes() const { return nodes_; }

 private:
  friend class ExpressionParser;
  std::string text_;
  std::vector<ExpressionNode> nodes_;
};

// Returns true if the whole `text` fits the pattern: `*` stands for any number of characters, `?`
// for one.
bool fits(std::string_view text, std::string_view pattern);

// Returns an Error (usage) that begins with the column: "column 12: ...".
Error at_column(std::size_t column, const std::string& what);

}  // namespace fkt
