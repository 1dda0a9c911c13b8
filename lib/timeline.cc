// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline.h"

#include <algorithm>

#include "lib/clock.h"
#include "lib/merge.h"

namespace fkt {
namespace {

constexpr std::uint64_t kReport = 1 << 16;     // events between two looks at the control
constexpr std::uint64_t kTurn = 1 << 13;       // events that are followed at a time
constexpr std::uint64_t kLeastBetween = 4096;  // events that are read faster than a copy is made

}  // namespace

Timeline::Timeline(const Trace& trace)
    : trace_(trace),
      meanings_(trace.info().catalogue),
      types_(trace.info()),
      copy_every_(kLeastBetween),
      end_(trace.info(), meanings_, types_) {
  const TraceInfo& info = trace.info();
  begin_ = info.oldest != 0 ? info.oldest : recording_start(info);
  finish_ = recording_end(trace);
  for (const PageRef& page : trace.pages()) begin_ = std::min(begin_, page.first_clock);
  if (info.cut) {  // its first and last pages reach beyond it
    begin_ = info.cut->from;
    finish_ = std::min(finish_, info.cut->to);
  }
  finish_ = std::max(finish_, begin_ + 1);
}

void Timeline::keep(std::uint64_t clock, const Follow& state) {
  copies_.push_back({clock, state});
  if (copies_.size() < kCopies && copies_.size() * state.bytes() < kCopyBytes) return;
  // Every second one goes, and the next ones come half as often.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < copies_.size(); i += 2) {
    if (kept != i) copies_[kept] = std::move(copies_[i]);
    kept++;
  }
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(kept), copies_.end());
  copy_every_ *= 2;
}

void Timeline::read(PassControl& control, FollowSink* whole) {
  const std::lock_guard lock(reading_);
  std::uint64_t events = 0, next_copy = 0, last_clock = 0;
  for (const PageRef& page : trace_.pages()) control.total += page.events;
  for (const Event& event : trace_.events()) {
    // Between two events of one time no copy can be taken: a question asks for times.
    if (events >= next_copy && event.clock > last_clock) {
      keep(event.clock, end_);
      next_copy = events + copy_every_;
    }
    end_.apply(event, whole);
    last_clock = event.clock;
    if (++events % kReport != 0) continue;
    control.done = events;
    if (control.stop) return;
  }
  control.done = events;
  finish_ = std::max(finish_, last_clock + 1);
  if (whole != nullptr) end_.finish(finish_, *whole);
}

const Timeline::Copy& Timeline::copy_before(std::uint64_t clock) const {
  const auto after = std::ranges::upper_bound(copies_, clock, {}, &Copy::clock);
  return after == copies_.begin() ? *after : *std::prev(after);
}

void Timeline::follow(std::uint64_t from, std::uint64_t to, FollowSink& sink,
                      const Unwanted& unwanted) const {
  if (copies_.empty() || from >= to) return;
  std::unique_lock lock(reading_);
  std::uint64_t events = 0;
  const Copy& copy = copy_before(from);
  Follow state = copy.state;
  for (const Event& event : trace_.events({.from = copy.clock, .to = to, .cpu = {}})) {
    state.apply(event, event.clock < from ? nullptr : &sink);
    if (sink.enough()) return;
    if (++events % kTurn != 0) continue;
    if (unwanted && unwanted()) return;
    lock.unlock();  // what others read meanwhile changes nothing that this range stands on
    lock.lock();
  }
  state.finish(to, sink);
}

}  // namespace fkt
