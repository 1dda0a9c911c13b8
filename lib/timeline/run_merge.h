// SPDX-License-Identifier: GPL-2.0-only
// RunMerge: merges the events of all CPUs into time order, as EventRange does, but hands out runs:
// events of one CPU and one task, one behind the other, that concern nothing outside of that CPU
// and task. A run is due when its last event is. So the CPUs are compared once per run, not once
// per event, and what reads them looks the task up once.
//
// If an event of another CPU that is due earlier may concern the task, the run is taken apart: its
// events are handed out one by one, in time order. So what is made of the events is the same for
// each CPU and each task; only between those the order differs, by longest() at most.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/analyse/meanings.h"
#include "lib/base/merge_heap.h"
#include "lib/read/cpu_stream.h"
#include "lib/read/pages_ahead.h"
#include "lib/read/trace.h"

namespace fkt {

// Which words may be part of a run, by their ids: points that change no task, begins and ends of
// spans on stacks, and pairs of these.
class QuietWords {
 public:
  QuietWords(const Catalogue& catalogue, const Meanings& meanings);
  bool operator[](std::uint32_t id) const { return quiet_[id]; }

 private:
  std::array<bool, 1 << FKT_ID_BITS> quiet_{};
};

class RunMerge {
 public:
  // For all events of `trace`, which must outlive this and must be no slice. longest: duration of
  // the longest run (ticks). taker: as ReadRange::page_read.
  RunMerge(const Trace& trace, const Meanings& meanings, std::uint64_t longest,
           const PageTaker& taker);

  // Returns whether this can read the recording.
  static bool can_read(const TraceInfo& info) {
    return !info.checkpoint && has_ordinary_switches(info.catalogue);
  }

  bool at_end() const { return heap_.empty(); }
  // The event that is due, or the first one of the run that is. Precondition: !at_end().
  const Event& event() const { return heap_.front().source->stream.event(); }
  // The number of events in the run; 1: event() is by itself.
  std::uint32_t events() const { return heap_.front().source->events; }
  // Moves on to the next event of the run, which must have one.
  void step() { heap_.front().source->stream.advance(); }
  // Moves on to the pair that comes next in the run, which takes the place of two events; event()
  // is not updated. Returns false, and does nothing, if none does.
  bool step(PageDecoder::WholePair& pair) { return heap_.front().source->stream.take_pair(pair); }
  // Moves on. Precondition: event() is the last event of the run, or by itself.
  void next();

  // Takes all runs apart, and makes none until resume(): then everything is in time order.
  void settle();
  void resume() { makes_runs_ = true; }

 private:
  static constexpr std::uint32_t kMostEvents = 1024;  // in a run
  static constexpr std::uint32_t kFewestEvents = 4;   // a smaller run is no gain
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  struct Lane {
    CpuStream stream;
    std::uint32_t cpu = 0;
    std::uint32_t events = 1;       // of the run that begins with stream.event(); 1: there is none
    std::uint32_t made_begins = 0;  // of the run
    std::uint32_t alone = 0;        // so many events behind it are by themselves as well
    std::uint32_t runs = kUnknown;  // pid of the thread that runs, after the events handed out
    std::uint64_t due = 0;          // ticks
    bool in_run() const { return events > 1; }
  };
  static MergeSource<Lane> waiting(Lane& lane) { return {lane.due, lane.cpu, &lane}; }
  // These two return false when other lanes have changed, too.
  bool begin(Lane& lane);
  bool find_run(Lane& lane);
  void take_apart(Lane& lane);
  bool take_apart_others();
  void rebuild();
  bool disturbs() const;
  bool is_owned(std::uint64_t pid) const {
    pid &= FKT_PID_MASK;
    return pid < owners_.size() && owners_[pid] != nullptr;
  }

  TraceData& data_;
  const QuietWords quiet_;
  const std::uint64_t longest_;
  PagesAhead ahead_;
  bool makes_runs_ = true;
  std::vector<Lane> lanes_;
  std::vector<MergeSource<Lane>> heap_;  // what is due in front
  std::vector<Lane*> owners_;            // by pid: the lane that waits with a run of the thread
};

}  // namespace fkt
