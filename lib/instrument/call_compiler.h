// SPDX-License-Identifier: GPL-2.0-only
// Makes the programs of an instrument on whole calls (fkt/call_hit.h) for one function, and the
// program of one on a tracepoint (fkt/point_hit.h).
//
// Names in its condition: ret, duration; task, pid, tid, uid, cgroup, cpu, context (task, softirq,
// irq, nmi), since_start, stack_left; else the function's arguments, by name or as arg1, arg2 ...
// Of an argument that is called like one of the others, "arg1" and paths from it ("task.prio") can
// be asked.
//
// What asks of arguments or of stack_left is decided when the function is entered, with everything
// that is joined to it by "&&" and asks neither of ret nor of duration. Without arguments
// everything is decided at the return.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fkt/call_hit.h>

#include "lib/base/result.h"
#include "lib/instrument/btf.h"
#include "lib/instrument/instrument.h"
#include "lib/instrument/program_builder.h"

namespace fkt {

// A value in the words of an event.
struct RecordedField {
  enum class Kind : std::uint8_t { number, signed_number, address, text };

  std::string name;  // as typed: "file.f_inode.i_ino", "ret"
  Kind kind = Kind::number;
  std::string shown_as;  // of a number (FetchedValue::shown_as)
  std::uint16_t first_word = 0, words = 1;
};

struct CallPrograms {
  ProgramBlock entry, exit;
  std::vector<RecordedField> fields;
  std::uint64_t shortest = 0;  // ticks: the condition is false for all shorter calls
};

struct CallContext {
  const Btf& btf;
  double ticks_per_second = 1e9;
  std::span<const std::string> flags;  // their numbers are their indices
};

// Error (usage): the function cannot be called through, has no such argument, or what is asked
// makes no sense of its type; with the column where there is one.
Result<CallPrograms> compile_call(const Instrument& instrument, const Prototype& function,
                                  const CallContext& context);

struct PointProgram {
  ProgramBlock block;
  std::vector<RecordedField> fields;
};

// point: the tracepoint's arguments. Error (usage): it passes a structure by value, or what is
// asked is not known there; with the column where there is one.
Result<PointProgram> compile_point(const Instrument& instrument, const Prototype& point,
                                   const CallContext& context);

}  // namespace fkt
