// SPDX-License-Identifier: GPL-2.0-only
// Translates expressions (lib/query/expression.h) into conditions that the module checks while it
// records (fkt/condition.h). The module checks system calls at their exit and other events when
// they are recorded; it can test name, cpu, pid and task, of system calls also duration and ret.
#pragma once

#include <cstdint>
#include <string>

#include <fkt/condition.h>
#include <fkt/ioctl.h>

#include "lib/base/result.h"
#include "lib/query/expression.h"

namespace fkt {

struct ConditionContext {
  std::uint64_t mask = 0;         // layers that are recorded, a bit each
  double ticks_per_second = 1e9;  // of the recording's clock
  std::uint32_t tids = 0;         // upper bound of thread numbers, exclusive
};

// Returns the condition in the module's form. Error (usage): the expression tests something that
// the module cannot test, or it can never be true of an event in these layers.
Result<fkt_condition> compile_condition(const Expression& expression,
                                        const ConditionContext& context);

// Returns a text for the event that made the condition true: "sys_fsync of 61.240 ms by writer
// (123) on CPU 1, ret=0"; "fork by make (88) on CPU 0". instrument: text of the instrument whose
// hit made it true, which replaces the event's; or empty.
std::string fired_text(const fkt_fired& fired, double ticks_per_second,
                       const std::string& instrument = {});

}  // namespace fkt
