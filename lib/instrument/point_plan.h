// SPDX-License-Identifier: GPL-2.0-only
// Selects the tracepoints of this kernel for an instrument, with their programs, and says why
// others that its patterns fit are left out.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fkt/events.h>

#include "lib/base/result.h"
#include "lib/instrument/call_compiler.h"
#include "lib/instrument/function_index.h"

namespace fkt {

struct PointPlan {
  struct Taken {
    std::string name;
    std::size_t arguments = 0;
    PointProgram program;
    // Of a module's probe; else empty.
    std::string module, description;
    unsigned layer = FKT_L_INSTRUMENTS;  // bit number
    std::uint32_t record_bytes = 0;      // 0: the program does not use the tracepoint's own record
  };
  struct LeftOut {
    std::string name, reason;
  };

  std::vector<Taken> taken;  // by name
  std::vector<LeftOut> left_out;
  // Tracepoints that were planned without their own records, with the reasons.
  std::vector<LeftOut> by_arguments;
};

struct PointPlanSources {
  std::span<const std::string> systems;  // of the running kernel and its modules: "block", "sched"
  std::span<const std::string> events;   // of the instrument's system
  // Returns the functions, likewise of both. Called if the kernel's own types do not describe one
  // of the tracepoints.
  std::function<const FunctionIndex&()> functions;
  // Returns the types of a module, or of the kernel itself if the name is empty; nullptr if the
  // kernel does not describe them.
  std::function<const Btf*(std::string_view module)> types;
  double ticks_per_second = 1e9;
  const FlagNames& flags = FlagNames::none();  // of all instruments
  // Returns the record that the module makes of a tracepoint. Error: it makes none, with the
  // reason. The function may be empty.
  std::function<Result<PointRecord>(const std::string& event)> record{};
  // A name that both a field and an argument have means the argument. An instrument that uses only
  // arguments is planned without the record, because making one at each hit takes time.
  bool arguments_first = false;
};

// An instrument that records hits without naming values records all fields of a tracepoint's own
// record; of a tracepoint without one, all arguments that are numbers or texts.
// Error (usage): the patterns fit no tracepoint, or none of those that they fit can be recorded.
Result<PointPlan> plan_points(const Instrument& instrument, const PointPlanSources& sources);

}  // namespace fkt
