// SPDX-License-Identifier: GPL-2.0-only
// Profile: what the spans and events of one pass add up to. It knows no names and prints nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "lib/event.h"
#include "lib/histogram.h"
#include "lib/span_types.h"

namespace fkt {

// What a CPU was doing. Every tick of every CPU is in exactly one of these.
enum class State : std::uint8_t {
  idle,
  user,
  system,  // in a system call of its task, or in a kernel thread
  irq,     // interrupts and vectors
  softirq,
  running,  // a task ran, but whether in user or system mode is not known
  others,   // under a filter: idle and the tasks that are not recorded
  unknown,  // before a CPU's first event, in gaps
};
inline constexpr std::size_t kStates = 8;
using StateTimes = std::array<std::uint64_t, kStates>;  // ticks

struct Spread {
  std::uint64_t count = 0, sum = 0, min = ~std::uint64_t{0}, max = 0;  // ticks
  void add(std::uint64_t ticks) {
    count++;
    sum += ticks;
    min = std::min(min, ticks);
    max = std::max(max, ticks);
  }
  void add(const Spread& more) {
    count += more.count;
    sum += more.sum;
    min = std::min(min, more.min);
    max = std::max(max, more.max);
  }
};

struct Child {
  TypeIndex type = kNoType;
  std::uint64_t count = 0;
  std::uint64_t ticks = 0;
};

// Adds to the child of that type; there are few of them.
template <class List>
void add_child(List& children, TypeIndex type, std::uint64_t count, std::uint64_t ticks) {
  for (Child& child : children) {
    if (child.type != type) continue;
    child.count += count;
    child.ticks += ticks;
    return;
  }
  children.push_back({type, count, ticks});
}

struct OpenSpan {
  TypeIndex type = kNoType;
  SpanKind kind = SpanKind::other;
  bool selected = false;           // its entry counts in the statistics
  bool before_cut = false;         // of a slice: its entry is not in the file
  bool of_cpu = false;             // it nests on a CPU, not on a task
  std::uint64_t match = 0;         // what its end must say
  std::uint64_t begin = 0;         // ticks
  std::uint64_t own = 0;           // innermost on its CPU
  std::uint64_t own_selected = 0;  // of those: inside the selection
  Child blocked, preempted;        // switched out, asleep or not
  std::vector<Child> children;     // what nested directly in it
  Event entry{};                   // where Spans::keep_entries() asked for it
  // The same of the calls that it made, and of theirs (interrupts are none of its calls).
  std::uint64_t sub = 0;  // CPU time
  std::uint64_t sub_blocked = 0, sub_preempted = 0;
  static constexpr std::uint64_t kNoTag = ~std::uint64_t{0};
  std::uint64_t tag = kNoTag;  // a CallSink's; kNoTag: it was not told of the begin

  // A call that this one made has ended.
  void add_call(const OpenSpan& call) {
    sub += call.own + call.sub;
    sub_blocked += call.blocked.ticks + call.sub_blocked;
    sub_preempted += call.preempted.ticks + call.sub_preempted;
  }
};

enum class Outcome : std::uint8_t {
  complete,
  no_entry,       // before the recording or the slice
  no_exit,        // after it, or never seen
  in_gap,         // hidden by lost events
  never_returns,  // exit, exit_group, rt_sigreturn
  fork_return,    // the child's side of a fork
};
inline constexpr std::size_t kOutcomes = 6;

// Everything about one type of span.
struct SpanStats {
  std::uint64_t entries = 0;
  std::array<std::uint64_t, kOutcomes> outcomes{};
  Spread total;                 // entry to exit, of the complete ones
  Spread own;                   // of these, innermost and inside the selection
  std::uint64_t own_whole = 0;  // the same, inside the selection or not
  Child blocked, preempted;
  Child unknown;  // what is left of calls' durations: hidden by gaps
  std::vector<Child> children;
  // Of the calls it made. What is left of the total was taken by interrupts.
  std::uint64_t sub = 0, sub_blocked = 0, sub_preempted = 0;
  Histogram times;  // of total; only where the Profile keeps them

  void add(const SpanStats& more);

  // Of total, within 1/64 and never outside of min and max (ticks); 0 without complete spans.
  std::uint64_t percentile(double percent) const {
    if (total.count == 0) return 0;
    return std::clamp(times.percentile(percent), total.min, total.max);
  }
};

class Profile {
 public:
  // From here on each type's durations are kept for percentiles.
  void keep_histograms() { histograms_ = true; }
  bool keeps_histograms() const { return histograms_; }

  // An event of the selection.
  void count(const Event& event) {
    counts_[event.id & FKT_ID_MASK]++;
    events_++;
  }
  // So many of them.
  void count(std::uint16_t id, std::uint64_t events) {
    counts_[id & FKT_ID_MASK] += events;
    events_ += events;
  }
  // Spans that nothing else of this profile knows of.
  void add(TypeIndex type, const SpanStats& more);
  // The order of a type's children says nothing from here on.
  void sort_children();
  void opened(TypeIndex type) { of(type).entries++; }
  // `exit_selected`: so is the event that ended it.
  void closed(const OpenSpan& span, Outcome outcome, std::uint64_t end, bool exit_selected);
  // An exit alone; kNoType where it does not say of what.
  void exit_alone(TypeIndex type, Outcome outcome);

  std::uint64_t events() const { return events_; }
  std::uint64_t count_of(std::uint16_t id) const { return counts_[id & FKT_ID_MASK]; }
  const SpanStats& stats(TypeIndex type) const {
    static const SpanStats kNone;
    return type < stats_.size() ? stats_[type] : kNone;
  }
  // Exits of system calls that do not say of which call.
  const std::array<std::uint64_t, kOutcomes>& exits_alone() const { return exits_alone_; }

 private:
  SpanStats& of(TypeIndex type) {
    if (type >= stats_.size()) stats_.resize(type + 1);
    return stats_[type];
  }

  std::array<std::uint64_t, 1 << FKT_ID_BITS> counts_{};
  std::uint64_t events_ = 0;
  bool histograms_ = false;
  std::vector<SpanStats> stats_;
  std::array<std::uint64_t, kOutcomes> exits_alone_{};
};

}  // namespace fkt
