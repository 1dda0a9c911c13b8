// SPDX-License-Identifier: GPL-2.0-only
// Finds calls, interrupts and events by name in a part of a recording: the next one, and the
// slowest ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/analyse/span_types.h"
#include "lib/timeline/state_tracker.h"
#include "lib/timeline/timeline.h"

namespace fkt {

// One occurrence: a call or an interrupt with its duration, or an event (from == to).
struct Occurrence {
  std::uint64_t from = 0, to = 0;  // ticks
  std::uint32_t cpu = 0;
  TaskIndex task = kNoTask;
  TypeIndex type = kNoType;  // type of the call or interrupt; kNoType for an event
  std::uint16_t event = 0;   // the event's id; 0 for a call or interrupt
  std::uint64_t length() const { return to - from; }
};

// The span types and event ids that a name stands for. "sys_*" and "irq*" stand for all names with
// that prefix.
class NameMatch {
 public:
  NameMatch(std::string_view name, const SpanTypes& types, const Catalogue& catalogue);
  bool any() const { return any_; }
  bool type(TypeIndex type) const { return type < types_.size() && types_[type]; }
  bool event(std::uint16_t id) const { return events_[id & FKT_ID_MASK]; }

 private:
  std::vector<bool> types_, events_;
  bool any_ = false;
};

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
