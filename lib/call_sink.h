// SPDX-License-Identifier: GPL-2.0-only
// CallSink: whoever wants every call (span) by itself, and not only what the Profile adds up: the
// nested call trace, the flame graph. FKT recordings (lib/spans.h) and KFT logs (lib/kft_calls.h)
// feed the same sinks.
#pragma once

#include <cstdint>

#include "lib/cut.h"
#include "lib/profile.h"

namespace fkt {

// Where a call stands.
struct CallPlace {
  std::uint64_t clock = 0;           // ticks; at an end that nobody saw: 0
  std::uint32_t cpu = 0;             // a KFT log has none: 0
  std::int64_t pid = 0;              // that runs, or was interrupted
  std::uint32_t task = 0;            // its TaskIndex: numbers come again, indexes do not
  std::uint32_t depth = 0;           // calls of its own stack around it
  bool interrupt = false;            // its stack is that of interrupts, not the task's
  const OpenSpan* around = nullptr;  // the call around it in its own stack
};

class CallSink {
 public:
  virtual ~CallSink() = default;
  // A slice's next stretch: what was open ended unseen, and all goes on from the state at this cut.
  virtual void restart(const Cut& /*cut*/, const CutPlaces& /*places*/) {}
  // `call` was open already where the slice, or its next stretch, begins; the sink may tag it.
  virtual void reopen(OpenSpan& /*call*/, const CallPlace& /*place*/) {}
  // `call` was just put on its stack; the sink may keep a number in call.tag.
  virtual void begin(OpenSpan& call, const CallPlace& place) = 0;
  // `call` leaves its stack; its times are final.
  virtual void end(const OpenSpan& call, Outcome outcome, const CallPlace& place) = 0;
  // `ticks` of a CPU went to the innermost open call, or, with none, to the task in that state.
  virtual void charge(const OpenSpan* call, std::uint32_t task, State state,
                      std::uint64_t ticks) = 0;
};

}  // namespace fkt
