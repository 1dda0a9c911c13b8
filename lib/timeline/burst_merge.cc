// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/burst_merge.h"

#include <algorithm>

#include "lib/analyse/tasks.h"
#include "lib/format/clocks.h"
#include "lib/read/recording_data.h"

namespace fkt {

BurstMerge::BurstMerge(const Recording& trace, const Meanings& meanings, std::uint64_t longest,
                       const PageTaker& taker)
    : data_(trace.data()),
      quiet_(data_.info.catalogue, meanings),
      longest_(longest),
      ahead_(data_, 0, kForever, [this, taker](std::uint32_t number, const Result<Page>& page) {
        if (page) quiet_runs_.put(number, QuietRuns(data_.table, *page, quiet_));
        if (taker) taker(number, page);
      }) {
  data_.integrity.events = 0;
  cpus_.reserve(data_.by_cpu.size());  // the heap points into it: no reallocation from here on
  for (const auto& [number, pages] : data_.by_cpu) {
    Cpu& cpu = cpus_.emplace_back(Cpu{CpuStream(data_, pages, 0, kForever, nullptr), number});
    cpu.stream.read_from(&ahead_);
    cpu.pages = &pages;
    if (!cpu.stream.advance()) continue;
    begin(cpu);
    heap_.push_back(waiting(cpu));
  }
  make_least_heap(heap_);
}

// The stream of the CPU has moved on to an event: decides whether that event or a burst is handed
// out next.
bool BurstMerge::begin(Cpu& cpu) {
  const Event& event = cpu.stream.event();
  cpu.events = 1;
  cpu.due = event.clock;
  if (cpu.alone > 0) {
    cpu.alone--;
    return true;
  }
  return !makes_bursts_ || !quiet_[event.id] || find_burst(cpu);
}

// As CpuStream::look_ahead(). Most bursts are whole runs of quiet events.
PageDecoder::Ahead BurstMerge::look_ahead(Cpu& cpu, std::uint64_t until) {
  for (const std::size_t page = cpu.stream.current_page().index; cpu.page != page;) {
    cpu.quiet_runs = quiet_runs_.take((*cpu.pages)[++cpu.page]);
  }
  const auto run = cpu.quiet_runs.behind(cpu.stream.progress());
  if (run && run->events <= kMostEvents && run->end <= until) return *run;
  return cpu.stream.look_ahead(quiet_, kMostEvents, until);
}

// Finds the burst that begins with the event. Its thread must be the known one of the CPU, because
// otherwise its first event changes the states of other tasks.
bool BurstMerge::find_burst(Cpu& cpu) {
  const Event& event = cpu.stream.event();
  if (CpuRuns(cpu.runs).arrive(event.pid) == CpuRuns::Shown::unseen_task) return true;
  const std::uint64_t until = event.clock + std::min(longest_, kForever - 1 - event.clock);
  const PageDecoder::Ahead ahead = look_ahead(cpu, until);
  if (ahead.events + 1 < kFewestEvents) return true;
  if (event.pid != 0) {  // an idle task is of one CPU
    if (event.pid >= owners_.size()) owners_.resize(event.pid + 1);
    if (owners_[event.pid] != nullptr) {  // the thread seems to run on two CPUs at once
      cpu.alone = ahead.events;
      take_apart(*owners_[event.pid]);
      return false;
    }
    owners_[event.pid] = &cpu;
  }
  cpu.events = ahead.events + 1;
  cpu.made_begins = ahead.made_begins + is_made_begin(event.id);
  cpu.due = ahead.end;
  return true;
}

// Hands out the burst's events singly, and at least as many as the heap has entries: rebuilding the
// heap then costs little per event.
void BurstMerge::take_apart(Cpu& cpu) {
  const Event& event = cpu.stream.event();
  if (event.pid != 0) owners_[event.pid] = nullptr;
  cpu.alone = std::max(cpu.events - 1, static_cast<std::uint32_t>(heap_.size()));
  cpu.events = 1;
  cpu.due = event.clock;
  changed_ = true;
}

// Reorders the heap after other CPUs than the one in front have changed.
void BurstMerge::rebuild() {
  for (MergeSource<Cpu>& entry : heap_) entry = waiting(*entry.source);
  make_least_heap(heap_);
  changed_ = false;
}

void BurstMerge::follow(Cpu& cpu, const Event& last) {
  if (last.id == kGapBegins) return cpu.runs.begin_gap();
  if (cpu.runs.arrive(last.pid) == CpuRuns::Shown::unseen_task) cpu.runs.runs(last.pid);
  if (is_switch(last.id)) cpu.runs.switches(last.pid, last.arg & FKT_PID_MASK);
}

void BurstMerge::next() {
  Cpu& cpu = *heap_.front().source;
  const Event& last = cpu.stream.event();
  if (cpu.in_burst() && last.pid != 0) owners_[last.pid] = nullptr;
  data_.integrity.events += counted();
  follow(cpu, last);
  cpu.events = 1;
  if (!cpu.stream.advance()) {
    pop_front(heap_);
  } else if (begin(cpu)) {
    replace_front(heap_, waiting(cpu));
  } else {
    rebuild();
  }
  while (!heap_.empty()) {
    take_apart_disturbed();
    if (!changed_) return;
    rebuild();
  }
}

// Takes apart the bursts of threads that the next event may concern.
void BurstMerge::take_apart_disturbed() {
  const Cpu& cpu = *heap_.front().source;
  const Event& event = cpu.stream.event();
  if (cpu.in_burst()) return;
  if (event.is_gap() || event.id == FKT_E_MASK) take_apart_begun();
  if (event.id == kGapBegins) return;
  take_apart_burst_of(event.pid, true);
  // The thread that the CPU was known to run does not run there any more.
  if (CpuRuns(cpu.runs).arrive(event.pid) == CpuRuns::Shown::unseen_task) {
    take_apart_burst_of(cpu.runs.task, true);
  }
  if (is_wake_up(event.id)) return take_apart_burst_of(event.arg, true);
  if (!may_change_tasks(event.id)) return;
  // The number of a new or freed thread belongs to another task from now on. So a burst of that
  // number is taken apart even if it begins later.
  const bool renumbers = event.id == FKT_E_FORK || event.id == FKT_E_PID_FREE;
  take_apart_burst_of(event.arg, !renumbers);
  if (event.words.empty()) return;
  take_apart_burst_of(event.words[0], true);
  take_apart_burst_of(event.words[0] >> 32, true);
}

// Takes apart the burst of this thread. begun: only if it has begun at the time of the next event.
void BurstMerge::take_apart_burst_of(std::uint64_t pid, bool begun) {
  pid &= FKT_PID_MASK;
  Cpu* const owner = pid < owners_.size() ? owners_[pid] : nullptr;
  if (owner == nullptr) return;
  if (!begun || owner->stream.event().clock <= heap_.front().clock) take_apart(*owner);
}

// Takes apart all bursts that have begun at the time of the next event.
void BurstMerge::take_apart_begun() {
  for (const MergeSource<Cpu>& entry : heap_) {
    Cpu& cpu = *entry.source;
    if (cpu.in_burst() && cpu.stream.event().clock <= heap_.front().clock) take_apart(cpu);
  }
}

void BurstMerge::settle() {
  makes_bursts_ = false;
  for (const MergeSource<Cpu>& entry : heap_) {
    if (!entry.source->in_burst()) continue;
    take_apart(*entry.source);
    entry.source->alone = 0;  // no burst begins before resume()
  }
  if (changed_) rebuild();
}

}  // namespace fkt
