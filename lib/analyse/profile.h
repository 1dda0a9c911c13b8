// SPDX-License-Identifier: GPL-2.0-only
// Profile: the sums over the spans and events of one pass. It knows no names and prints nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/analyse/span_types.h"
#include "lib/base/histogram.h"
#include "lib/format/event.h"

namespace fkt {

// What a CPU was doing. Every tick of every CPU is in exactly one of these.
enum class CpuState : std::uint8_t {
  idle,
  user,
  system,  // in a system call of its task, or in a kernel thread
  irq,     // interrupts and vectors
  softirq,
  running,  // a task ran, but whether in user or system mode is not known
  others,   // with a filter: idle time and tasks that are not recorded
  unknown,  // before a CPU's first event, in gaps
};
inline constexpr std::size_t kCpuStates = 8;
using CpuStateTimes = std::array<std::uint64_t, kCpuStates>;  // ticks

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

// Sums of spans by their type. Most lists have few types, which are searched one by one; a list
// with many has a hash table.
class ChildList {
 public:
  void add(TypeIndex type, std::uint64_t count, std::uint64_t ticks) {
    if (list_.size() > kFew) return add_to_many(type, count, ticks);
    for (Child& child : list_) {
      if (child.type != type) continue;
      child.count += count;
      child.ticks += ticks;
      return;
    }
    list_.push_back({type, count, ticks});
  }
  void clear() {
    list_.clear();
    slots_.clear();
  }
  // Sorts the list by type.
  void sort();

  std::vector<Child>::const_iterator begin() const { return list_.begin(); }
  std::vector<Child>::const_iterator end() const { return list_.end(); }
  std::size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  const Child& operator[](std::size_t at) const { return list_[at]; }

 private:
  static constexpr std::size_t kFew = 16;
  void add_to_many(TypeIndex type, std::uint64_t count, std::uint64_t ticks);
  void make_slots();
  // Where the search for the type's slot begins. Precondition: there is a hash table.
  std::size_t home(TypeIndex type) const {
    return (type * 0x9e3779b97f4a7c15ULL >> 32) & (slots_.size() - 1);
  }
  // Returns the slot of the type, or the free one in which it belongs.
  std::uint32_t& slot(TypeIndex type);

  std::vector<Child> list_;
  // Hash table with a power of two of slots, at most half of them used; empty: there is none. A
  // slot has a position in list_ plus 1; 0: it is free.
  std::vector<std::uint32_t> slots_;
};

struct OpenSpan {
  TypeIndex type = kNoType;
  SpanKind kind = SpanKind::other;
  bool selected = false;    // its entry counts in the statistics
  bool before_cut = false;  // of a slice: it began before the slice, its entry is not in the file
  bool of_cpu = false;      // it nests on a CPU, not on a task
  std::uint64_t match = 0;  // its key (Meaning::value()): the end event's key must be the same
  std::uint64_t begin = 0;  // ticks
  std::uint64_t self = 0;   // ticks in which it was innermost on its CPU
  std::uint64_t self_selected = 0;  // the part of `self` inside the selection
  Child blocked, preempted;         // switched out asleep; switched out runnable
  ChildList children;               // spans directly nested in it
  Event entry{};                    // its entry, if SpanTracker::keep_entries() was called
  // Times of the calls nested in it at any depth (interrupts are not among them), in ticks.
  std::uint64_t sub = 0;  // their CPU time
  std::uint64_t sub_blocked = 0, sub_preempted = 0;
  static constexpr std::uint64_t kNoTag = ~std::uint64_t{0};
  std::uint64_t tag = kNoTag;  // belongs to the SpanObserver; kNoTag: it was not told of the begin

  // For SpanStacks (lib/analyse/span_stacks.h).
  void reset() {
    self = self_selected = 0;
    before_cut = false;
    sub = sub_blocked = sub_preempted = 0;
    tag = kNoTag;
    blocked = preempted = {};
    children.clear();
  }
  void reopened(bool on_cpu) {
    of_cpu = on_cpu;
    selected = false;
    before_cut = true;
  }

  // Adds the times of a call made in this one, which has ended.
  void add_call(const OpenSpan& call) {
    sub += call.self + call.sub;
    sub_blocked += call.blocked.ticks + call.sub_blocked;
    sub_preempted += call.preempted.ticks + call.sub_preempted;
  }
};

enum class Outcome : std::uint8_t {
  complete,
  no_entry,       // it began before the recording or the slice
  no_exit,        // the recording ended before it, or its exit was not recorded
  in_gap,         // hidden by lost events
  never_returns,  // exit, exit_group, rt_sigreturn
  fork_return,    // the child's side of a fork
  refused,        // a system call that a filter or a tracer ended before its entry is recorded
};
inline constexpr std::size_t kOutcomes = 7;

// Statistics of one type of span; times in ticks.
struct SpanStats {
  std::uint64_t entries = 0;
  std::array<std::uint64_t, kOutcomes> outcomes{};
  Spread total;                  // from entry to exit, of the complete spans
  Spread self;                   // of the complete spans: time innermost, inside the selection
  std::uint64_t self_whole = 0;  // as `self`, but inside the selection or not
  Child blocked, preempted;
  Child unknown;  // time of complete spans that is accounted to nothing: hidden by gaps
  ChildList children;
  // Times of the calls nested in these spans, at any depth. What remains of the total after self,
  // blocked, preempted, unknown and these is the time of interrupts.
  std::uint64_t sub = 0, sub_blocked = 0, sub_preempted = 0;
  Histogram times;  // of total; only with Profile::keep_histograms()

  void add(const SpanStats& more);

  // Percentile of total in ticks, within 1/64 and between min and max; 0 without complete spans.
  std::uint64_t percentile(double percent) const {
    if (total.count == 0) return 0;
    return std::clamp(times.percentile(percent), total.min, total.max);
  }
};

class Profile {
 public:
  // From here on each type's durations are kept for percentiles. Call it before the first event.
  void keep_histograms() { histograms_ = true; }
  bool keeps_histograms() const { return histograms_; }

  // Counts an event of the selection.
  void count(const Event& event) {
    counts_[event.id & FKT_ID_MASK]++;
    events_++;
  }
  // Counts `events` events of this id.
  void count(std::uint16_t id, std::uint64_t events) {
    counts_[id & FKT_ID_MASK] += events;
    events_ += events;
  }
  // Adds spans that were counted elsewhere.
  void add(TypeIndex type, const SpanStats& more);
  // Sorts each type's children by type: their order depends on the order in which they were added.
  void sort_children();
  void opened(TypeIndex type) { of(type).entries++; }
  // exit_selected: the event that ended the span is selected.
  void closed(const OpenSpan& span, Outcome outcome, std::uint64_t end, bool exit_selected);
  // Counts an exit without an entry; `type` is kNoType when the exit does not say of which call.
  void exit_alone(TypeIndex type, Outcome outcome);

  std::uint64_t events() const { return events_; }
  std::uint64_t count_of(std::uint16_t id) const { return counts_[id & FKT_ID_MASK]; }
  const SpanStats& stats(TypeIndex type) const {
    static const SpanStats kNone;
    return type < stats_.size() ? stats_[type] : kNone;
  }
  // Moves the type's histogram out.
  Histogram take_times(TypeIndex type) {
    return type < stats_.size() ? std::move(stats_[type].times) : Histogram();
  }
  // Exits of system calls that do not say of which call, by outcome.
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
