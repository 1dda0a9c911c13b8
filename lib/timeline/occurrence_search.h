// SPDX-License-Identifier: GPL-2.0-only
// Finds calls, interrupts and events by name in a part of a recording: the next one, and the
// slowest ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/analyse/span_types.h"
#include "lib/analyse/time_scale.h"
#include "lib/base/histogram.h"
#include "lib/timeline/state_tracker.h"
#include "lib/timeline/timeline.h"

namespace fkt {

// One occurrence: a slice, or an event, which has times, CPU and task alone, and from == to.
struct Occurrence {
  Slice slice;
  std::uint16_t event = 0;  // the event's id; 0: it is a slice
  std::uint64_t length() const { return slice.to - slice.from; }
};

// The things that a name stands for: the calls, interrupts, events and tasks of that name, or the
// tasks and processes of that number; `*` and `?` stand for any characters. If there are none,
// those whose name contains the text. If there are none either, or the text has a `/`, the events
// with a text that contains it, such as the path of a file.
class NameMatch {
 public:
  // tasks: nullptr: no tasks are searched. `catalogue` must outlive this object.
  NameMatch(std::string_view name, const SpanTypes& types, const Catalogue& catalogue,
            const Tasks* tasks = nullptr);
  // Returns whether anything has this name; texts of events are not checked.
  bool any() const { return any_; }
  bool any_task() const { return any_task_; }
  bool task(TaskIndex task) const { return task < tasks_.size() && tasks_[task]; }
  // Returns whether the slice is a call, an interrupt or a run that the name stands for.
  bool slice(const Slice& slice) const {
    return slice.kind == SliceKind::run ? task(slice.value)
                                        : slice.kind != SliceKind::state && type(slice.value);
  }
  bool type(TypeIndex type) const { return type < types_.size() && types_[type]; }
  bool event(const Event& event) const {
    return events_[event.id & FKT_ID_MASK] || (!text_.empty() && has_text(event));
  }

 private:
  void find(std::string_view pattern, const SpanTypes& types, const Catalogue& catalogue,
            const Tasks* tasks);

  bool has_text(const Event& event) const;

  const Catalogue& catalogue_;
  std::string text_;  // pattern that a text of an event must fit; empty: none is looked for
  std::vector<bool> types_, events_, tasks_;
  bool any_ = false, any_task_ = false;
};

// Where matches begin, by column of a picture of [from, to) (ticks).
struct SearchHits {
  std::vector<std::uint32_t> columns;  // ascending
  std::uint64_t count = 0;             // of the matches
};
// Returns where matches begin in the scale's interval. The search is abandoned when `unwanted`
// returns true.
SearchHits find_hits(const Timeline& timeline, const NameMatch& match, const TimeScale& scale,
                     const Unwanted& unwanted = {});

// Returns the durations of the runs of the tasks that match, which began and ended in [from, to)
// (ticks).
Histogram run_times(const Timeline& timeline, const NameMatch& match, std::uint64_t from,
                    std::uint64_t to, const Unwanted& unwanted = {});

// Returns all names that NameMatch accepts, sorted: calls and interrupts that occur, and events.
std::vector<std::string> searchable_names(const SpanTypes& types, const Catalogue& catalogue);

// Returns the first match that begins at or after `from` (ticks), or nothing when there is none.
// The search is abandoned when `unwanted` returns true.
std::optional<Occurrence> next_occurrence(const Timeline& timeline, const NameMatch& match,
                                          std::uint64_t from, const Unwanted& unwanted = {});

// Returns the longest matches that began and ended in [from, to), longest first; at most `most`.
// `at_least`, `below`: only those with at_least <= duration < below (ticks).
std::vector<Occurrence> slowest_occurrences(const Timeline& timeline, const NameMatch& match,
                                            std::uint64_t from, std::uint64_t to, std::size_t most,
                                            std::uint64_t at_least = 0,
                                            std::uint64_t below = ~std::uint64_t{0},
                                            const Unwanted& unwanted = {});

}  // namespace fkt
