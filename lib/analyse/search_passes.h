// SPDX-License-Identifier: GPL-2.0-only
// Passes over a recording that find places before anything is shown: the spans that an expression
// selects as a whole, the time around an event, the slowest spans of a name. Each function reads
// the recording once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/analyse/analysis.h"
#include "lib/analyse/selection.h"
#include "lib/read/recording.h"

namespace fkt {

// Called from time to time with the number of events read so far, to report progress.
using Reading = std::function<void(std::uint64_t)>;

// Returns what the expression `text` selects in the recording, for Selection::where. Reads the
// recording only if the expression selects spans as a whole; by_name: so does one with a span's
// name. Error (usage): the expression is malformed, or names something that this recording does not
// have.
Result<std::shared_ptr<const Filter>> make_filter(const Recording& recording, std::string_view text,
                                                  const Reading& reading, bool by_name = false);

// As make_filter(), but `text` may be the name of a span ("sys_read", "softirq RCU") or a pattern
// ("sys_*"); it is taken for an expression if it contains an operator.
Result<std::shared_ptr<const Filter>> make_event_filter(const Recording& recording,
                                                        std::string_view text,
                                                        const Reading& reading);

// Returns the intervals from `window` ticks before to `window` ticks after each event that the
// selection shows, in ascending order; those that touch are merged. Error (usage): there are more
// than a few million.
Result<std::vector<Interval>> around(const Recording& recording, const Selection& selection,
                                     std::uint64_t window, const Reading& reading);

// Returns the interval from the first to the last event that the selection shows; nothing if it
// shows none.
std::optional<Interval> extent(const Recording& recording, const Selection& selection,
                               const Reading& reading);

struct FoundSpan {
  std::uint64_t begin = 0, duration = 0;  // ticks; begin: full stamp
  std::uint32_t cpu = 0;  // on which it began; of a span that a slice cuts: on which it ended
  std::uint32_t pid = 0;
  std::string name{};   // "sys_read"; a pattern may fit several names
  std::string task{};   // the task's name at that time
  std::string about{};  // of a system call, as CallSubjects::about()
  // The task, of a request the one that ran when it began; it has this index in each analysis of
  // the recording.
  TaskIndex index = kNoTask;
  bool async = false;      // an asynchronous span, such as a request to a disk
  bool interrupt = false;  // it is on no task's stack
};

// Returns the `most` longest spans that the selection shows from begin to end and whose name fits
// `name`: the name of a span ("sys_read", "irq 14 ide0", "request vda"), of its event ("irq"), or a
// pattern. The longest comes first; spans of equal duration are sorted by time. Empty: none fits.
std::vector<FoundSpan> slowest(const Recording& recording, const Selection& selection,
                               std::string_view name, std::size_t most, const Reading& reading);

}  // namespace fkt
