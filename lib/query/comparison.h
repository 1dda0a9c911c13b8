// SPDX-License-Identifier: GPL-2.0-only
// The comparison operators of expressions: for texts with texts and patterns, for numbers with
// literals.
#pragma once

#include <cstdint>
#include <string_view>

#include "lib/query/expression.h"

namespace fkt {

// Kinds of operators: the negations != and !~; the patterns ~ and !~; those for numbers alone: <,
// <=,
// >, >= and &.
inline bool negates(Comparison c) {
  return c == Comparison::unequal || c == Comparison::unlike;
}
inline bool is_pattern(Comparison c) {
  return c == Comparison::like || c == Comparison::unlike;
}
inline bool is_for_numbers(Comparison c) {
  return (c >= Comparison::less && c <= Comparison::greater_equal) || c == Comparison::has_bits;
}

// Returns true if the text equals the value or fits its pattern, without applying the operator's
// negation.
inline bool same(Comparison c, std::string_view text, const Literal& value) {
  return is_pattern(c) ? fits(text, value.text) : is_meant(text, value.text);
}
// Compares a text with a literal.
inline bool compare(Comparison c, std::string_view text, const Literal& value) {
  return same(c, text, value) != negates(c);
}
// Returns the literal's 64 bits.
inline std::uint64_t bits_of(const Literal& literal) {
  return literal.negative ? -literal.number : literal.number;
}
// Compares a number, signed or unsigned, with a literal. Returns false for the pattern operators.
bool compare(Comparison c, std::uint64_t value, bool is_signed, const Literal& literal);

}  // namespace fkt
