// SPDX-License-Identifier: GPL-2.0-only
// BurstMerge: merges the events of all CPUs into time order, as EventRange does, but hands out
// bursts (lib/analyse/burst_order.h): quiet events of one CPU and one task, one behind the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lib/analyse/burst_order.h"
#include "lib/analyse/meanings.h"
#include "lib/analyse/running_tasks.h"
#include "lib/read/cpu_stream.h"
#include "lib/read/pages_ahead.h"
#include "lib/read/recording.h"
#include "lib/timeline/quiet_runs.h"

namespace fkt {

class BurstMerge {
 public:
  // Merges all events of `recording`, which must outlive this object and must not be a slice.
  // longest: duration of the longest burst (ticks). taker: as ReadRange::page_read.
  BurstMerge(const Recording& recording, const Meanings& meanings, std::uint64_t longest,
             const PageTaker& taker);

  // Returns whether this class can read the recording: it must have ordinary switches, from which
  // RunningTasks finds the threads of the CPUs, and no checkpoint.
  static bool can_read(const RecordingInfo& info) {
    return !info.checkpoint && has_ordinary_switches(info.catalogue);
  }

  bool at_end() const { return order_.empty(); }
  // Returns the next event, or the first one of the next burst. Precondition: !at_end().
  const Event& event() const { return order_.front().stream.event(); }
  // Returns the number of events in the burst; 1: event() is not in a burst.
  std::uint32_t events() const { return order_.front().events; }
  // Returns how many of them count: gaps and begins that the reader made do not.
  std::uint32_t counted() const {
    const Cpu& cpu = order_.front();
    if (cpu.in_burst()) return cpu.events - cpu.made_begins;
    return event().counts();
  }
  // Moves on to the next event of the burst, which must have one.
  void step() { order_.front().stream.advance(); }
  // Moves on to the pair that comes next in the burst, which takes the place of two events; event()
  // is not updated. Returns false, and does nothing, if none does.
  bool step(PageDecoder::WholePair& pair) { return order_.front().stream.take_pair(pair); }
  // Moves on. Precondition: event() is the last event of its burst, or not in one.
  void next();

  // Takes all bursts apart, and makes none until resume(): then everything is in time order.
  void settle();
  void resume() { makes_bursts_ = true; }

 private:
  static constexpr std::uint32_t kMostEvents = 1024;  // in a burst
  static constexpr std::uint32_t kFewestEvents = 4;   // a smaller burst is no gain
  static constexpr std::size_t kNoPage = ~std::size_t{0};
  struct Cpu {
    CpuStream stream;
    std::uint32_t number;
    const std::vector<std::uint32_t>* pages;
    std::uint32_t cpus;        // how many there are
    std::uint32_t events = 1;  // of the burst that begins with stream.event(); 1: there is none
    std::uint32_t made_begins = 0;  // of the burst
    std::uint32_t alone = 0;        // number of following events that are handed out singly
    std::size_t page = kNoPage;     // index in *pages: `quiet_runs` are those of this page
    QuietRuns quiet_runs{};
    CpuRuns runs{};          // the pid of the thread, as the events handed out tell
    std::uint64_t last = 0;  // clock of the burst's last event (ticks)

    // For BurstOrder:
    std::uint32_t cpu() const { return number; }
    bool in_burst() const { return events > 1; }
    std::uint32_t pid() const { return stream.event().pid; }
    std::uint64_t from() const { return stream.event().clock; }
    std::uint64_t due() const { return last; }
    // Hands out at least as many events singly as there are CPUs: putting these in order again then
    // costs little per event.
    void take_apart() {
      alone = std::max(events - 1, cpus);
      events = 1;
      last = stream.event().clock;
    }
  };
  void begin(Cpu& cpu);
  void find_burst(Cpu& cpu);
  PageDecoder::Ahead look_ahead(Cpu& cpu, std::uint64_t until);
  // Updates the thread that the CPU runs from the last event handed out.
  static void follow(Cpu& cpu, const Event& last);
  void disturb();

  RecordingData& data_;
  const QuietWords quiet_;
  const std::uint64_t longest_;
  QuietRunsByPage quiet_runs_;
  PagesAhead ahead_;  // its thread uses the members above
  bool makes_bursts_ = true;
  std::vector<Cpu> cpus_;
  BurstOrder<Cpu> order_{true};
};

}  // namespace fkt
