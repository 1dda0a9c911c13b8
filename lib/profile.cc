// SPDX-License-Identifier: GPL-2.0-only
#include "lib/profile.h"

namespace fkt {

void Profile::closed(const OpenSpan& span, Outcome outcome, std::uint64_t end, bool exit_selected) {
  SpanStats& stats = of(span.type);
  if (!span.selected) {  // began before the slice
    if (outcome == Outcome::complete && exit_selected) exit_alone(span.type, Outcome::no_entry);
    return;
  }
  stats.outcomes[static_cast<std::size_t>(outcome)]++;
  // exit_group runs until its task is gone: its own time is known, though it never returns.
  if (outcome == Outcome::never_returns) stats.own.add(span.own_selected);
  if (outcome != Outcome::complete) return;
  stats.total.add(end - span.begin);
  stats.own.add(span.own_selected);
  stats.own_whole += span.own;
  stats.blocked.count += span.blocked.count;
  stats.blocked.ticks += span.blocked.ticks;
  stats.preempted.count += span.preempted.count;
  stats.preempted.ticks += span.preempted.ticks;
  stats.sub += span.sub;
  stats.sub_blocked += span.sub_blocked;
  stats.sub_preempted += span.sub_preempted;
  if (histograms_) stats.times.add(end - span.begin);
  for (const Child& child : span.children) {
    add_child(stats.children, child.type, child.count, child.ticks);
  }
}

void Profile::exit_alone(TypeIndex type, Outcome outcome) {
  const auto slot = static_cast<std::size_t>(outcome);
  if (type == kNoType) {
    exits_alone_[slot]++;
  } else {
    of(type).outcomes[slot]++;
  }
}

}  // namespace fkt
