// SPDX-License-Identifier: GPL-2.0-only
// Comparisons of numbers with constants, as the ranges that programs test (fkt/program.h).
#pragma once

#include <cstdint>

#include "lib/query/comparison.h"

namespace fkt {

struct ValueRange {
  enum class Kind : std::uint8_t { some, none, all };  // of the values that the operand can have

  Kind kind = Kind::some;
  // The comparison is true if operand - first <= span, unsigned, in 64 bits.
  std::uint64_t first = 0, span = 0;

  // The range of all other values. Precondition: kind is some.
  ValueRange complement() const { return {Kind::some, first + span + 1, ~span - 1}; }
};

// bits: width of the operand, which is extended to 64 bits with its sign if it has one.
// Precondition: the comparison is not one with patterns.
ValueRange range_of(Comparison comparison, const Literal& number, unsigned bits, bool is_signed);

}  // namespace fkt
