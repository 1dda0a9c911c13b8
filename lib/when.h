// SPDX-License-Identifier: GPL-2.0-only
// Expressions (lib/expression.h) that the module checks while it records: made into what it
// understands (fkt/condition.h). It is asked at a system call's exit, and of other events where
// they happen; so it knows name, cpu, pid and task, of a call also duration and ret, and nothing
// else.
#pragma once

#include <cstdint>
#include <string>

#include <fkt/condition.h>
#include <fkt/ioctl.h>

#include "lib/expression.h"
#include "lib/result.h"

namespace fkt {

struct WhenWorld {
  std::uint64_t mask = 0;         // the layers that are recorded
  double ticks_per_second = 1e9;  // of the recording's clock
  std::uint32_t tids = 0;         // thread numbers are smaller
};

// Error (usage): what the module cannot check, by its name; or what can never come true with these
// layers.
Result<fkt_when> make_when(const Expression& expression, const WhenWorld& world);

// "sys_fsync of 61.240 ms by writer (123) on CPU 1, ret=0"; "fork by make (88) on CPU 0".
std::string fired_text(const fkt_fired& fired, double ticks_per_second);

}  // namespace fkt
