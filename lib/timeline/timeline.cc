// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/timeline.h"

#include <algorithm>
#include <limits>
#include <set>

#include "lib/format/clocks.h"
#include "lib/read/event_merge.h"

namespace fkt {
namespace {

constexpr std::uint64_t kReport = 1 << 16;  // events between updates of `control`
// The longest burst takes as long as so many events of a CPU take on average.
constexpr std::uint64_t kBurstEvents = 64;
constexpr std::uint64_t kTurn = 1 << 13;  // events after which follow() gives up the mutex
constexpr std::uint64_t kLeastBetween =
    4096;  // reading this many events takes less time than a copy

}  // namespace

Timeline::Timeline(const Recording& recording)
    : recording_(recording),
      types_(recording.info()),
      meanings_(recording.info().catalogue, types_.kinds()),
      copy_every_(kLeastBetween),
      end_(recording.info(), meanings_, types_) {
  const RecordingInfo& info = recording.info();
  begin_ = info.oldest != 0 ? info.oldest : recording_start(info);
  finish_ = recording_end(recording);
  for (const PageRef& page : recording.pages()) begin_ = std::min(begin_, page.first_clock);
  if (info.checkpoint) last_events_.restore(*info.checkpoint);
  if (info.checkpoint) {  // the first and last pages of a slice have events outside of it
    begin_ = info.checkpoint->from;
    finish_ = std::min(end(), info.slice_end());
  }
  stop_ = end();
  const auto ends_at_stop = [&](const PageRef& page) { return page.end_clock >= stop_; };
  if (!info.checkpoint && std::ranges::any_of(recording.pages(), ends_at_stop)) finish_ = stop_ + 1;
  finish_ = std::max(end(), begin_ + 1);
  std::uint64_t events = 0;
  std::set<std::uint32_t> cpus;
  for (const PageRef& page : recording.pages()) {
    events += page.events;
    cpus.insert(page.cpu);
  }
  longest_burst_ = (end() - begin_) / (events / (kBurstEvents * (cpus.size() + 1)) + 1);
  if (info.stretches() > 1) next_stretch_at_ = info.stretch(1).from;
}

Interval Timeline::stretch(std::size_t n) const {
  const RecordingInfo& info = recording_.info();
  if (!info.checkpoint) return {0, std::numeric_limits<std::uint64_t>::max()};
  return {info.stretch(n).from, info.stretch(n).to};
}

void Timeline::keep(std::uint64_t clock, bool cut) {
  copies_.push_back({clock, cut, end_.save()});
  const std::size_t bytes = copies_.back().state.bytes();
  copy_bytes_ += bytes;
  cuts_ += cut;
  cut_bytes_ += cut ? bytes : 0;
  if (copies_.size() - cuts_ < kCopies && copy_bytes_ - cut_bytes_ < kCopyBytes) return;
  // Removes every second copy, and makes new ones half as often.
  bool stays = false;
  std::erase_if(copies_, [&](const Copy& copy) {
    if (copy.cut) return false;
    stays = !stays;
    return !stays;
  });
  copy_bytes_ = 0;
  for (const Copy& copy : copies_) copy_bytes_ += copy.state.bytes();
  copy_every_ *= 2;
}

void Timeline::end_stretch(std::uint64_t end, bool last, StateObserver* whole) {
  unknown_ends_.push_back(last_events_.unknown_ends(recording_.info(), end, last));
  if (whole != nullptr) end_.finish(end, unknown_ends_.back(), *whole);
}

void Timeline::next_stretch(StateObserver* whole) {
  const RecordingInfo& info = recording_.info();
  end_stretch(info.stretch(stretch_).to, false, whole);
  end_.restart(info.stretch(++stretch_));
  last_events_.restore(info.stretch(stretch_));
  keep(info.stretch(stretch_).from, true);
  const bool last = stretch_ + 1 == info.stretches();
  next_stretch_at_ = last ? kForever : info.stretch(stretch_ + 1).from;
}

void Timeline::read(PassControl& control, StateObserver* whole, const PageTaker& taker) {
  const std::lock_guard lock(reading_);
  control.total += events_of(recording_);
  const bool in_bursts =
      (whole == nullptr || !whole->wants_events()) && BurstMerge::can_read(recording_.info());
  if (!(in_bursts ? read_bursts(control, whole, taker) : read_events(control, whole, taker)))
    return;
  reach(finish_, whole);
  stop_ = std::max(stop_, last_clock_);
  finish_ = std::max(end(), last_clock_ + 1);
  end_stretch(stop_, true, whole);
}

inline void Timeline::learn_name(const Event& event) {
  if (event.id != FKT_E_NAME) return;
  if (const EventType* const type = recording_.info().catalogue.find(event.id); type != nullptr) {
    file_names_.add(event, *type);
  }
}

// Reads the recording event by event. Returns false when control.stop was set.
bool Timeline::read_events(PassControl& control, StateObserver* whole, const PageTaker& taker) {
  std::uint64_t events = 0, next_copy = 0;
  if (recording_.info().checkpoint) keep(begin_, true);
  const ReadRange all{.from = {}, .to = {}, .cpu = {}, .ahead = true, .page_read = taker};
  for (const Event& event : recording_.events(all)) {
    reach(event.clock, whole);
    // No copy between two events of equal time: copies are found by time.
    if (events >= next_copy && event.clock > last_clock_) {
      keep(event.clock, false);
      next_copy = events + copy_every_;
    }
    end_.apply(event, whole);
    learn_name(event);
    last_events_.add(event);
    last_clock_ = event.clock;
    if (++events % kReport != 0) continue;
    control.done = events;
    if (control.stop) return false;
  }
  control.done = events;
  return true;
}

// Reads the recording in bursts; result as read_events(). Before a copy is made, all bursts are
// taken apart, so that exactly the events before that moment have been applied.
bool Timeline::read_bursts(PassControl& control, StateObserver* whole, const PageTaker& taker) {
  BurstMerge merge(recording_, meanings_, longest_burst_, taker);
  SliceGroups groups(whole);
  std::uint64_t events = 0, next_copy = 0, next_report = kReport;
  for (; !merge.at_end(); merge.next()) {
    if (events >= next_copy) {
      merge.settle();
      if (const std::uint64_t clock = merge.event().clock; clock > last_clock_) {
        keep(clock, false);
        next_copy = events + copy_every_;
        merge.resume();
      }
    }
    events += merge.events();
    learn_name(merge.event());  // an event with a name is in no burst
    end_.apply_next(merge, groups);
    if (const Event& last = merge.event(); last.id != kGapBegins) {
      last_events_.add(last.cpu, last.clock, merge.counted());
    }
    last_clock_ = std::max(last_clock_, merge.event().clock);
    if (events < next_report) continue;
    next_report = events + kReport;
    control.done = events;
    if (control.stop) return false;
  }
  control.done = events;
  return true;
}

const Timeline::Copy& Timeline::copy_before(std::uint64_t clock) const {
  const auto after = std::ranges::upper_bound(copies_, clock, {}, &Copy::clock);
  return after == copies_.begin() ? *after : *std::prev(after);
}

void Timeline::follow(std::uint64_t from, std::uint64_t to, StateObserver& observer,
                      const Unwanted& unwanted) const {
  const std::size_t stretches = std::max<std::size_t>(1, recording_.info().stretches());
  if (copies_.empty() || unknown_ends_.size() < stretches || from >= to) return;
  std::unique_lock lock(reading_);
  std::uint64_t events = 0;
  for (std::size_t n = 0; n < stretches; n++) {
    const std::uint64_t begin = std::max(from, stretch(n).from), end = std::min(to, stretch(n).to);
    if (begin >= end) continue;
    const Copy& copy = copy_before(begin);
    StateTracker state = end_.at(copy.state);
    for (const Event& event : recording_.events({.from = copy.clock, .to = end, .cpu = {}})) {
      state.apply(event, event.clock < begin ? nullptr : &observer);
      if (observer.enough()) return;
      if (++events % kTurn != 0) continue;
      if (unwanted && unwanted()) return;
      lock.unlock();  // another thread's reading does not affect the state of this range
      lock.lock();
    }
    state.finish(std::min(end, stop_), unknown_ends_[n], observer);
  }
}

}  // namespace fkt
