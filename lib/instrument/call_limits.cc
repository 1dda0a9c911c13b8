// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/call_limits.h"

#include <algorithm>

namespace fkt {
namespace {

bool has(const ValueRange& range, std::uint64_t value) {
  return value - range.first <= range.span;
}

}  // namespace

void narrow(CallLimits& limits, const HitTest& test) {
  if (test.kind != HitTest::Kind::range || test.range.kind != ValueRange::Kind::some) return;
  const ValueRange& range = test.range;
  const bool wraps = range.first + range.span < range.first;
  using Source = HitValue::Source;
  switch (test.left.source) {
    case Source::duration:
    case Source::cputime:
      // The time on the CPU is at most the duration.
      if (!wraps) limits.shortest = std::max(limits.shortest, range.first);
      return;
    case Source::depth: {
      const std::uint64_t last = range.first + range.span;
      if (wraps || last == 0 || last > UINT32_MAX) return;
      const auto deepest = static_cast<std::uint32_t>(last);
      limits.deepest = limits.deepest == 0 ? deepest : std::min(limits.deepest, deepest);
      return;
    }
    case Source::context:
      if (test.left.fetch.index != FKT_CONTEXT_LEVEL) return;
      for (unsigned level = 0; level < kLevels; level++) {
        if (!has(range, level)) limits.contexts &= ~(1U << level);
      }
      return;
    default:
      return;
  }
}

}  // namespace fkt
