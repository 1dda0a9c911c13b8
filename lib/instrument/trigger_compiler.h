// SPDX-License-Identifier: GPL-2.0-only
// Translates the expression of --snapshot-when (lib/query/expression.h) into the trigger of a
// recording (fkt/trigger_hit.h). The module runs it for system calls at their exit and for other
// events when they are recorded; it can test name, cpu, pid and task, of system calls also duration
// and ret.
#pragma once

#include <cstdint>
#include <string>

#include <fkt/ioctl.h>
#include <fkt/trigger_hit.h>

#include "lib/base/result.h"
#include "lib/instrument/program_builder.h"
#include "lib/query/expression.h"

namespace fkt {

struct TriggerContext {
  std::uint64_t mask = 0;         // layers that are recorded, a bit each
  double ticks_per_second = 1e9;  // of the recording's clock
  std::uint32_t tids = 0;         // upper bound of thread numbers, exclusive
};

struct Trigger {
  fkt_trigger head{};  // its program: that below
  ProgramBlock program;
};

// Returns the trigger in the module's form. Error (usage): the expression tests something that the
// module cannot test, or it can never be true of an event in these layers.
Result<Trigger> compile_trigger(const Expression& expression, const TriggerContext& context);

// Returns a text for the event that made the trigger true: "sys_fsync of 61.240 ms by writer (123)
// on CPU 1, ret=0"; "fork by make (88) on CPU 0". instrument: text of the instrument whose hit made
// it true, which replaces the event's; or empty.
std::string fired_text(const fkt_fired& fired, double ticks_per_second,
                       const std::string& instrument = {});

}  // namespace fkt
