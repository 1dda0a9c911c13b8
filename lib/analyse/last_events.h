// SPDX-License-Identifier: GPL-2.0-only
// LastEvents: how many events of each CPU were read, and when the last one was; and from when on it
// is unknown at the end of a recording what a CPU did, because its last events are missing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lib/format/checkpoint.h"
#include "lib/format/event.h"
#include "lib/format/metadata.h"

namespace fkt {

// The CPUs of which it is unknown at the end what they did.
class UnknownEnds {
 public:
  struct Cpu {
    std::uint32_t number = 0;
    std::uint64_t from = 0;  // ticks
  };
  void add(std::uint32_t cpu, std::uint64_t from) { cpus_.push_back({cpu, from}); }
  const std::vector<Cpu>& cpus() const { return cpus_; }
  // Returns up to when it is known what the CPU did, at most `end` (ticks).
  std::uint64_t known_until(std::uint32_t cpu, std::uint64_t end) const {
    for (const Cpu& unknown : cpus_) {
      if (unknown.number == cpu) return std::min(unknown.from, end);
    }
    return end;
  }

 private:
  std::vector<Cpu> cpus_;
};

class LastEvents {
 public:
  // Returns whether add() or restore() was called for the CPU, or for one with a higher number.
  bool knows(std::uint32_t cpu) const { return cpu < cpus_.size(); }
  // Notes that the event was read.
  void add(const Event& event) {
    if (event.id == kGapBegins) return;
    add(event.cpu, event.clock, event.counts());
  }
  // Notes that `count` events were read, the last one at `clock` (ticks).
  void add(std::uint32_t cpu, std::uint64_t clock, std::uint64_t count) {
    Cpu& of = at(cpu);
    of.clock = clock;
    of.count += count;
  }
  // Continues from the state in the checkpoint.
  void restore(const Checkpoint& checkpoint);
  // Return the clock of the CPU's last event (ticks), 0 if none was read; and the number of its
  // events.
  std::uint64_t clock(std::uint32_t cpu) const { return knows(cpu) ? cpus_[cpu].clock : 0; }
  std::uint64_t count(std::uint32_t cpu) const { return knows(cpu) ? cpus_[cpu].count : 0; }

  // After its last event a CPU stayed as it was until `end` (ticks), unless events or pages of it
  // are missing. Returns the CPUs of which they are. all_read: all events of the recording were
  // read; false: only gaps that were open at the stop count.
  UnknownEnds unknown_ends(const RecordingInfo& info, std::uint64_t end, bool all_read) const;

 private:
  struct Cpu {
    std::uint64_t clock = 0, count = 0;
  };
  Cpu& at(std::uint32_t cpu) {
    if (cpu >= cpus_.size()) [[unlikely]]
      cpus_.resize(cpu + 1);
    return cpus_[cpu];
  }

  std::vector<Cpu> cpus_;
};

}  // namespace fkt
