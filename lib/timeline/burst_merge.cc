// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/burst_merge.h"

#include <algorithm>

#include "lib/analyse/tasks.h"
#include "lib/format/clocks.h"
#include "lib/read/recording_data.h"

namespace fkt {

BurstMerge::BurstMerge(const Recording& recording, const Meanings& meanings, std::uint64_t longest,
                       const PageTaker& taker)
    : data_(recording.data()),
      quiet_(data_.info.catalogue, meanings),
      longest_(longest),
      ahead_(data_, 0, kForever, [this, taker](std::uint32_t number, const Result<Page>& page) {
        if (page) quiet_runs_.put(number, QuietRuns(data_.table, *page, quiet_));
        if (taker) taker(number, page);
      }) {
  data_.integrity.events = 0;
  const auto count = static_cast<std::uint32_t>(data_.by_cpu.size());
  cpus_.reserve(count);  // order_ points into it: no reallocation from here on
  for (const auto& [number, pages] : data_.by_cpu) {
    Cpu& cpu = cpus_.emplace_back(
        Cpu{CpuStream(data_, pages, 0, kForever, nullptr), number, &pages, count});
    cpu.stream.read_from(&ahead_);
    if (!cpu.stream.advance()) continue;
    cpu.last = cpu.stream.event().clock;
    order_.add(cpu);
  }
  order_.begin();
}

// The stream of the CPU has moved on to an event: decides whether that event or a burst is handed
// out next.
void BurstMerge::begin(Cpu& cpu) {
  const Event& event = cpu.stream.event();
  cpu.events = 1;
  cpu.last = event.clock;
  if (cpu.alone > 0) {
    cpu.alone--;
  } else if (makes_bursts_ && quiet_[event.id]) {
    find_burst(cpu);
  }
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
void BurstMerge::find_burst(Cpu& cpu) {
  const Event& event = cpu.stream.event();
  if (CpuRuns(cpu.runs).arrive(event.pid) == CpuRuns::Shown::unseen_task) return;
  const std::uint64_t until = event.clock + std::min(longest_, kForever - 1 - event.clock);
  const PageDecoder::Ahead ahead = look_ahead(cpu, until);
  if (ahead.events + 1 < kFewestEvents) return;
  cpu.events = ahead.events + 1;
  cpu.made_begins = ahead.made_begins + is_made_begin(event.id);
  cpu.last = ahead.end;
}

void BurstMerge::follow(Cpu& cpu, const Event& last) {
  if (last.id == kGapBegins) return cpu.runs.begin_gap();
  if (cpu.runs.arrive(last.pid) == CpuRuns::Shown::unseen_task) cpu.runs.runs(last.pid);
  if (is_switch(last.id)) cpu.runs.switches(last.pid, last.arg & FKT_PID_MASK);
}

void BurstMerge::next() {
  Cpu& cpu = order_.front();
  if (cpu.in_burst()) order_.disown();
  data_.integrity.events += counted();
  follow(cpu, cpu.stream.event());
  cpu.events = 1;
  const bool more = cpu.stream.advance();
  if (more) begin(cpu);
  order_.go_on(more);
  if (at_end()) return;
  do {
    disturb();
  } while (order_.reorder());
}

// Takes apart the bursts of threads that the next event may concern.
void BurstMerge::disturb() {
  const Cpu& cpu = order_.front();
  if (cpu.in_burst()) return;
  const Event& event = cpu.stream.event();
  order_.disturb(event);
  // The thread that the CPU was known to run does not run there any more.
  if (event.id != kGapBegins &&
      CpuRuns(cpu.runs).arrive(event.pid) == CpuRuns::Shown::unseen_task) {
    order_.disturb(cpu.runs.task);
  }
}

void BurstMerge::settle() {
  makes_bursts_ = false;
  order_.take_apart_begun(kForever);
  order_.reorder();
}

}  // namespace fkt
