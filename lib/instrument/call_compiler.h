// SPDX-License-Identifier: GPL-2.0-only
// Makes the programs of an instrument on whole calls or entries (fkt/call_hit.h) for one function,
// and the program of one on a tracepoint (fkt/point_hit.h).
//
// Names in its condition: ret, duration, cputime, depth; task, pid, tid, uid, cgroup, cpu, context
// (task, softirq, irq, nmi), since_start, stack_left, lowest_stack; else arguments, by name or as
// arg1, arg2 ... If an argument has the name of one of the others, only "arg1" and paths from the
// name
// ("task.prio") refer to the argument. The fields of a tracepoint's own record precede all of
// these.
//
// Terms of a "&&" with arguments, stack_left or lowest_stack, but without ret, duration, cputime
// and depth, decide when the function is entered. A condition that uses no arguments is evaluated
// at the return.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fkt/call_hit.h>

#include "lib/base/result.h"
#include "lib/instrument/btf.h"
#include "lib/instrument/call_limits.h"
#include "lib/instrument/flag_names.h"
#include "lib/instrument/instrument.h"
#include "lib/instrument/point_record.h"
#include "lib/instrument/program_builder.h"
#include "lib/instrument/recorded_field.h"
#include "lib/instrument/user_file.h"

namespace fkt {

struct CallPrograms {
  ProgramBlock entry, exit;
  std::vector<RecordedField> fields;
  std::optional<MeasuredValue> measured;  // if the action is a histogram
  CallLimits limits;                      // of the condition
  bool asks_task = false;                 // cputime or depth are asked for
  // The programs use neither arguments nor the result, so compile_call() with the same instrument
  // and context makes equal programs for every function.
  bool suits_all = false;
};

struct CallContext {
  const Btf& btf;
  double ticks_per_second = 1e9;
  const FlagNames& flags = FlagNames::none();
  // The call is seen by a return probe, so its arguments may be on the stack.
  bool by_probe = false;
  // Of a user program's probe; nullptr: it is a function.
  const std::vector<UserArgument>* probe_arguments = nullptr;
};

// Error (usage): the function cannot be called through and context.by_probe is false; it has no
// such argument, or a value or comparison does not suit its type; with the column if there is one.
Result<CallPrograms> compile_call(const Instrument& instrument, const Prototype& function,
                                  const CallContext& context);

// Compiles the first program only, which emits the recorded values at the function's entry.
// Arguments on the stack cannot be used. Error (usage): the function has no such argument, or a
// value does not suit its type or is not known at the entry.
Result<CallPrograms> compile_entry(const Instrument& instrument, const Prototype& function,
                                   const CallContext& context);

struct PointProgram {  // of a place where everything is known at once
  ProgramBlock block;
  std::vector<RecordedField> fields;
  std::optional<MeasuredValue> measured;  // if the action is a histogram
  bool uses_record = false;
};

// Compiles the program of an instruction, whose values are registers (lib/instrument/registers.h).
// Error (usage): a value is not known there.
Result<PointProgram> compile_instruction(const Instrument& instrument, const CallContext& context);

// Compiles the program of a user program's function at its entry, or of its probe (fkt/user_hit.h):
// the first one of the pair. Error (usage): a value is not known there.
Result<CallPrograms> compile_user_entry(const Instrument& instrument, const CallContext& context);

// Compiles both programs of a user program's function whose exits or calls are recorded
// (fkt/user_hit.h). Error (usage): a value is not known there.
Result<CallPrograms> compile_user_call(const Instrument& instrument, const CallContext& context);

// Compiles the program of a tracepoint. point: the tracepoint's arguments. record: the record that
// ftrace would write of it; a name means its field rather than an argument; nullptr: there is no
// record. Error (usage), with the column if known: the tracepoint passes a structure by value, or a
// value cannot be fetched at a tracepoint.
Result<PointProgram> compile_point(const Instrument& instrument, const Prototype& point,
                                   const CallContext& context, const PointRecord* record);

}  // namespace fkt
