// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/slice_details.h"

#include <algorithm>
#include <functional>

namespace fkt {
namespace {

bool same_lane(const Slice& a, const Slice& b) {
  const bool of_cpu = a.kind == SliceKind::run || a.kind == SliceKind::interrupt;
  return of_cpu ? a.cpu == b.cpu : a.task == b.task;
}

bool same_kind(const Slice& a, const Slice& b) {
  if (a.kind != b.kind || a.value != b.value) return false;
  // A task is looked for on all CPUs.
  return a.kind == SliceKind::run || same_lane(a, b);
}

bool is_of_task(const Slice& slice) {
  return slice.kind == SliceKind::state || slice.kind == SliceKind::call;
}

void add(SliceDetails& found, const SliceDetails::Woken& woken) {
  found.wake_count++;
  const auto place = std::ranges::upper_bound(found.wakes, woken.asleep, std::greater<>(),
                                              &SliceDetails::Woken::asleep);
  found.wakes.insert(place, woken);
  if (found.wakes.size() > SliceDetails::kMostWakes) found.wakes.pop_back();
}

// Collects the details within the slice.
class Inside : public StateObserver {
 public:
  Inside(const Slice& of, SliceDetails& found) : of_(of), found_(found) {}
  void slice(const Slice& slice) override {
    if (slice.kind == SliceKind::state && slice.task == of_.task && is_of_task(of_)) {
      const std::uint64_t from = std::max(slice.from, of_.from), to = std::min(slice.to, of_.to);
      const std::uint64_t ticks = from < to ? to - from : 0;
      found_.states[slice.value & 3] += ticks;
      if (slice.value == static_cast<std::uint32_t>(TaskState::blocked)) asleep_ = ticks;
    }
    const bool around = slice.kind == of_.kind && same_lane(slice, of_) &&
                        slice.depth + 1 == of_.depth && slice.from <= of_.from &&
                        (!slice.ended || slice.to >= of_.to);
    if (around && of_.kind != SliceKind::async) found_.parent = slice;
  }
  void wake(const Wake& wake) override {
    if (wake.task != of_.task) return;
    const bool led_here =
        of_.kind == SliceKind::run && wake.runs == of_.from && wake.cpu == of_.cpu;
    const bool inside = is_of_task(of_) && wake.woken >= of_.from && wake.woken <= of_.to;
    if (led_here || inside) add(found_, {wake, inside ? asleep_ : 0});
  }

 private:
  const Slice& of_;
  SliceDetails& found_;
  std::uint64_t asleep_ = 0;  // in the last sleep of the task (ticks)
};

// Finds the wake-up that ended a state: it is reported when the task gets a CPU.
class EndingWake : public StateObserver {
 public:
  EndingWake(const Slice& of, SliceDetails& found) : of_(of), found_(found) {}
  void slice(const Slice&) override {}
  void wake(const Wake& wake) override {
    if (wake.task != of_.task || wake.runs < of_.to) return;
    done_ = true;
    if (wake.woken < of_.from || wake.woken > of_.to || found_.wake_count > 0) return;
    add(found_, {wake, found_.states[static_cast<std::size_t>(TaskState::blocked)]});
  }
  bool enough() const override { return done_; }

 private:
  const Slice& of_;
  SliceDetails& found_;
  bool done_ = false;
};

class After : public StateObserver {
 public:
  After(const Slice& of, std::optional<Slice>& found) : of_(of), found_(found) {}
  void slice(const Slice& slice) override {
    if (!found_ && same_kind(slice, of_) && slice.from >= of_.to) found_ = slice;
  }
  bool enough() const override { return found_.has_value(); }

 private:
  const Slice& of_;
  std::optional<Slice>& found_;
};

class Before : public StateObserver {
 public:
  Before(const Slice& of, std::optional<Slice>& found) : of_(of), found_(found) {}
  void slice(const Slice& slice) override {
    if (!same_kind(slice, of_) || slice.to > of_.from || slice.from >= of_.from) return;
    if (!found_ || slice.from > found_->from) found_ = slice;
  }

 private:
  const Slice& of_;
  std::optional<Slice>& found_;
};

// Looks in longer and longer stretches before the slice.
void look_before(const Timeline& timeline, const Slice& of, std::optional<Slice>& found,
                 const Unwanted& unwanted) {
  constexpr std::uint64_t kLeast = 1 << 20, kGrowth = 8;
  std::uint64_t length = std::max(kLeast, of.to - of.from);
  while (!(unwanted && unwanted())) {
    const std::uint64_t whole = of.from - std::min(of.from, timeline.begin());
    const bool all = length >= whole;
    Before before(of, found);
    timeline.follow(all ? timeline.begin() : of.from - length, of.from, before, unwanted);
    if (found || all) return;
    length *= kGrowth;
  }
}

}  // namespace

SliceDetails slice_details(const Timeline& timeline, const Slice& of, const Unwanted& unwanted) {
  SliceDetails found;
  Inside inside(of, found);
  timeline.follow(of.from, std::max(of.to, of.from + 1), inside, unwanted);
  if (of.kind == SliceKind::state) {
    EndingWake ending(of, found);
    timeline.follow(of.to, timeline.end(), ending, unwanted);
    return found;  // a state has no name that others could share
  }
  After after(of, found.next);
  timeline.follow(of.to, timeline.end(), after, unwanted);
  if (of.from > timeline.begin()) look_before(timeline, of, found.previous, unwanted);
  return found;
}

}  // namespace fkt
