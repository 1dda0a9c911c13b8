// SPDX-License-Identifier: GPL-2.0-only
// Finding places in a recording before it is shown: the spans that an expression selects as a
// whole, what lies around an event, the slowest spans of a name. Each is a pass of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/analysis.h"
#include "lib/select.h"
#include "lib/trace.h"

namespace fkt {

// Called now and then with the number of events read so far.
using Reading = std::function<void(std::uint64_t)>;

// What `text` selects in the trace, ready for View::where. Reads the trace once where spans are
// selected as a whole. Error (usage): the expression makes no sense, or not in this recording.
Result<std::shared_ptr<const Choice>> choose(const Trace& trace, std::string_view text,
                                             const Reading& reading);

// The same for a name ("sys_read", "softirq RCU", "sys_*") or, where it holds an operator, an
// expression.
Result<std::shared_ptr<const Choice>> choose_event(const Trace& trace, std::string_view text,
                                                   const Reading& reading);

// The stretches from `window` before to `window` behind (ticks) each event that the view shows;
// stretches that touch are one. Ascending. Error (usage): there are more than a few million.
Result<std::vector<Interval>> around(const Trace& trace, const View& view, std::uint64_t window,
                                     const Reading& reading);

// The stretch from the first to the last event that the view shows; nothing: it shows none.
std::optional<Interval> extent(const Trace& trace, const View& view, const Reading& reading);

struct FoundSpan {
  std::uint64_t begin = 0, duration = 0;  // ticks; begin: full stamp
  std::uint32_t cpu = 0;                  // where it ended
  std::uint32_t pid = 0;
  std::string name;  // "sys_read": a pattern fits several
  std::string task;  // its name then
};

// The `most` longest spans that the view shows whole, of the names that `name` fits, which is a
// span's ("sys_read", "irq 14 ide0") or its event's ("irq"), or a pattern. Longest first, equal
// ones by time.
std::vector<FoundSpan> slowest(const Trace& trace, const View& view, std::string_view name,
                               std::size_t most, const Reading& reading);

}  // namespace fkt
