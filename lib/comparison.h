// SPDX-License-Identifier: GPL-2.0-only
// How an expression's operators compare: texts with texts and patterns, numbers with literals.
#pragma once

#include <cstdint>
#include <string_view>

#include "lib/expression.h"

namespace fkt {

inline bool negates(Comparison c) {
  return c == Comparison::unequal || c == Comparison::unlike;
}
inline bool is_pattern(Comparison c) {
  return c == Comparison::like || c == Comparison::unlike;
}
inline bool orders(Comparison c) {
  return c >= Comparison::less && c <= Comparison::greater_equal;
}

// Does a text fit the value, leaving the operator's negation aside?
inline bool same(Comparison c, std::string_view text, const Literal& value) {
  return is_pattern(c) ? fits(text, value.text) : text == value.text;
}
inline bool compare(Comparison c, std::string_view text, const Literal& value) {
  return same(c, text, value) != negates(c);
}
// Of a number, which is read as a signed one or not. A pattern fits none.
bool compare(Comparison c, std::uint64_t value, bool is_signed, const Literal& literal);

}  // namespace fkt
