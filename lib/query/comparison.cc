// SPDX-License-Identifier: GPL-2.0-only
#include "lib/query/comparison.h"

namespace fkt {
namespace {

// Returns -1, 0 or 1 for a value below, equal to or above the literal.
int order(std::uint64_t value, bool is_signed, const Literal& literal) {
  const bool below_zero = is_signed && static_cast<std::int64_t>(value) < 0;
  const bool literal_below = literal.negative && literal.number != 0;
  if (below_zero != literal_below) return below_zero ? -1 : 1;
  const std::uint64_t size = below_zero ? 0 - value : value;
  if (size == literal.number) return 0;
  return (size < literal.number) != below_zero ? -1 : 1;
}

}  // namespace

bool compare(Comparison c, std::uint64_t value, bool is_signed, const Literal& literal) {
  if (c == Comparison::has_bits) return (value & bits_of(literal)) != 0;
  const int at = order(value, is_signed, literal);
  switch (c) {
    case Comparison::equal:
      return at == 0;
    case Comparison::unequal:
      return at != 0;
    case Comparison::less:
      return at < 0;
    case Comparison::less_equal:
      return at <= 0;
    case Comparison::greater:
      return at > 0;
    case Comparison::greater_equal:
      return at >= 0;
    case Comparison::like:
    case Comparison::unlike:
    case Comparison::has_bits:
      break;  // BoundExpression::bind() refuses them for numbers
  }
  return false;
}

}  // namespace fkt
