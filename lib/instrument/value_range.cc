// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/value_range.h"

#include <algorithm>

namespace fkt {
namespace {

using Wide = __int128;

ValueRange range(Wide first, Wide last, Wide least, Wide most) {
  first = std::max(first, least);
  last = std::min(last, most);
  if (first > last) return {ValueRange::Kind::none};
  if (first == least && last == most) return {ValueRange::Kind::all};
  return {ValueRange::Kind::some, static_cast<std::uint64_t>(first),
          static_cast<std::uint64_t>(last - first)};
}

}  // namespace

ValueRange range_of(Comparison comparison, const Literal& number, unsigned bits, bool is_signed) {
  const Wide values = Wide{1} << bits;
  const Wide least = is_signed ? -values / 2 : 0, most = least + values - 1;
  const Wide n = number.negative ? -Wide{number.number} : Wide{number.number};
  switch (comparison) {
    case Comparison::less:
      return range(least, n - 1, least, most);
    case Comparison::less_equal:
      return range(least, n, least, most);
    case Comparison::greater:
      return range(n + 1, most, least, most);
    case Comparison::greater_equal:
      return range(n, most, least, most);
    case Comparison::unequal: {
      const ValueRange equal = range(n, n, least, most);
      if (equal.kind == ValueRange::Kind::none) return {ValueRange::Kind::all};
      return equal.complement();
    }
    default:
      return range(n, n, least, most);
  }
}

}  // namespace fkt
