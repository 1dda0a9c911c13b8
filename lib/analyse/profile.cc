// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/profile.h"

#include <bit>

namespace fkt {

void ChildList::add_to_many(TypeIndex type, std::uint64_t count, std::uint64_t ticks) {
  if (2 * list_.size() >= slots_.size()) make_slots();
  std::uint32_t& found = slot(type);
  if (found == 0) {
    list_.push_back({type, count, ticks});
    found = static_cast<std::uint32_t>(list_.size());
  } else {
    list_[found - 1].count += count;
    list_[found - 1].ticks += ticks;
  }
}

void ChildList::make_slots() {
  slots_.assign(4 * std::bit_ceil(list_.size()), 0);
  for (std::uint32_t i = 0; i < list_.size(); i++) slot(list_[i].type) = i + 1;
}

std::uint32_t& ChildList::slot(TypeIndex type) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = home(type);
  while (slots_[at] != 0 && list_[slots_[at] - 1].type != type) at = (at + 1) & mask;
  return slots_[at];
}

void ChildList::sort() {
  std::ranges::sort(list_, {}, &Child::type);
  slots_.clear();
}

void SpanStats::add(const SpanStats& more) {
  entries += more.entries;
  for (std::size_t i = 0; i < kOutcomes; i++) outcomes[i] += more.outcomes[i];
  total.add(more.total);
  self.add(more.self);
  self_whole += more.self_whole;
  blocked.count += more.blocked.count;
  blocked.ticks += more.blocked.ticks;
  preempted.count += more.preempted.count;
  preempted.ticks += more.preempted.ticks;
  unknown.count += more.unknown.count;
  unknown.ticks += more.unknown.ticks;
  sub += more.sub;
  sub_blocked += more.sub_blocked;
  sub_preempted += more.sub_preempted;
  for (const Child& child : more.children) children.add(child.type, child.count, child.ticks);
  more.times.for_each(
      [this](std::uint32_t bucket, std::uint64_t count) { times.add_bucket(bucket, count); });
}

void Profile::add(TypeIndex type, const SpanStats& more) {
  of(type).add(more);
}

void Profile::sort_children() {
  for (SpanStats& stats : stats_) stats.children.sort();
}

void Profile::closed(const OpenSpan& span, Outcome outcome, std::uint64_t end, bool exit_selected) {
  SpanStats& stats = of(span.type);
  if (!span.selected) {  // began before the slice or outside the selection
    if (outcome == Outcome::complete && exit_selected) exit_alone(span.type, Outcome::no_entry);
    return;
  }
  stats.outcomes[static_cast<std::size_t>(outcome)]++;
  // exit_group runs until its task is gone: its self time is known although it never returns.
  if (outcome == Outcome::never_returns) stats.self.add(span.self_selected);
  if (outcome != Outcome::complete) return;
  stats.total.add(end - span.begin);
  stats.self.add(span.self_selected);
  stats.self_whole += span.self;
  stats.blocked.count += span.blocked.count;
  stats.blocked.ticks += span.blocked.ticks;
  stats.preempted.count += span.preempted.count;
  stats.preempted.ticks += span.preempted.ticks;
  stats.sub += span.sub;
  stats.sub_blocked += span.sub_blocked;
  stats.sub_preempted += span.sub_preempted;
  if (histograms_) stats.times.add(end - span.begin);
  std::uint64_t known = span.self + span.blocked.ticks + span.preempted.ticks;
  for (const Child& child : span.children) {
    known += child.ticks;
    stats.children.add(child.type, child.count, child.ticks);
  }
  // Computed per call: a surplus in one call must not hide the time missing in another.
  if (known >= end - span.begin) return;
  stats.unknown.count++;
  stats.unknown.ticks += end - span.begin - known;
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
