// SPDX-License-Identifier: GPL-2.0-only
#include "lib/slowest.h"

#include <algorithm>

namespace fkt {
namespace {

constexpr std::size_t kTime = 16;  // columns' widths
constexpr std::size_t kDuration = 15;

}  // namespace

void SlowestTable::text(Writer& out) const {
  out.put("The slowest ");
  out.escaped(name);
  out.put(", in ");
  out.put(time.unit());
  out.put('\n');
  out.right("From", kTime);
  out.right("To", kTime);
  out.right("Duration", kDuration);
  out.put(" CPU     Pid Task\n");
  for (const FoundSpan& span : spans) {
    const std::uint64_t since = span.begin > start ? span.begin - start : 0;
    time.right(out, since, kTime);
    time.right(out, since + span.duration, kTime);
    time.right(out, span.duration, kDuration);
    out.right(span.cpu, 4);
    out.right(span.pid, 8);
    out.put(' ');
    out.escaped(span.task);
    out.put('\n');
  }
}

void SlowestTable::json(Writer& out) const {
  for (const FoundSpan& span : spans) {
    out.put("{\"time\":");
    time.put(out, span.begin > start ? span.begin - start : 0);
    out.put(",\"duration\":");
    time.put(out, span.duration);
    out.put(",\"cpu\":");
    out.number(span.cpu);
    out.put(",\"pid\":");
    out.number(span.pid);
    out.put(",\"task\":");
    out.json(span.task);
    out.put("}\n");
  }
}

std::vector<Interval> surroundings(const std::vector<FoundSpan>& spans, std::uint64_t window) {
  std::vector<Interval> parts;
  for (const FoundSpan& span : spans) {
    const std::uint64_t end = span.begin + span.duration;
    parts.push_back({span.begin > window ? span.begin - window : 0,
                     end + window < window ? ~std::uint64_t{0} : end + window + 1});
  }
  std::ranges::sort(parts, {}, &Interval::from);
  std::vector<Interval> joined;
  for (const Interval& part : parts) {
    if (!joined.empty() && part.from <= joined.back().to) {
      joined.back().to = std::max(joined.back().to, part.to);
    } else {
      joined.push_back(part);
    }
  }
  return joined;
}

}  // namespace fkt
