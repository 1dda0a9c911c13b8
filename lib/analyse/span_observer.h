// SPDX-License-Identifier: GPL-2.0-only
// SpanObserver: the interface of consumers that need every single call (span), such as the nested
// call trace and the flame graph, where Profile only has sums. FKT recordings
// (lib/analyse/span_tracker.h) and KFT logs (lib/calls/kft_nesting.h) feed the same observers.
#pragma once

#include <cstdint>

#include "lib/analyse/profile.h"
#include "lib/format/checkpoint.h"

namespace fkt {

// Where a call begins or ends. Of an end that was not seen, clock, cpu, pid and task are 0.
struct SpanPosition {
  std::uint64_t clock = 0;           // ticks
  std::uint32_t cpu = 0;             // 0 in a KFT log that does not have it
  std::int64_t pid = 0;              // the running task, or the one that was interrupted
  std::uint32_t task = 0;            // its TaskIndex: pids are reused, indexes are not
  std::uint32_t depth = 0;           // number of calls around it on its stack
  bool interrupt = false;            // on the CPU's interrupt stack, not the task's
  const OpenSpan* around = nullptr;  // the call around it on its stack; nullptr: none
};

class SpanObserver {
 public:
  virtual ~SpanObserver() = default;
  // Returns whether the observer needs no calls and charges of bursts (lib/analyse/burst.h),
  // because it gets each burst in another way.
  virtual bool takes_bursts() const { return false; }
  // The next stretch of a slice begins: all open calls ended unseen, and the state is that of
  // `checkpoint`.
  virtual void restart(const Checkpoint& /*checkpoint*/, const CheckpointMapping& /*places*/) {}
  // `call` was already open at the beginning of the slice or its stretch; the observer may set
  // call.tag.
  virtual void reopen(OpenSpan& /*call*/, const SpanPosition& /*place*/) {}
  // `call` was just pushed on its stack; the observer may set call.tag.
  virtual void begin(OpenSpan& call, const SpanPosition& place) = 0;
  // `call` is about to leave its stack; its times are final.
  virtual void end(const OpenSpan& call, Outcome outcome, const SpanPosition& place) = 0;
  // Charges `ticks` of CPU time to the innermost open call, or to the task in that state if `call`
  // is nullptr.
  virtual void charge(const OpenSpan* call, std::uint32_t task, CpuState state,
                      std::uint64_t ticks) = 0;
};

// An observer for which bursts need not be read event by event: it gets all charges of the tasks
// that it follows, but of calls within bursts only the ends that it wants.
class BurstObserver : public SpanObserver {
 public:
  bool takes_bursts() const override { return true; }
  virtual bool follows(std::uint32_t task) const = 0;
  // Returns whether it wants the end of a system call of this duration (ticks).
  virtual bool wants(std::uint64_t ticks) const = 0;
};

}  // namespace fkt
