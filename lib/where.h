// SPDX-License-Identifier: GPL-2.0-only
// What an expression (lib/expression.h) means in one recording: its names resolved once, so that an
// event is tested by numbers, without a look-up by name and without an allocation.
//
//   name       as in the dump ("sys_openat", "switch"), or with what it is about as in the
//              statistics ("softirq RCU", "irq 14 ide0")
//   layer      name or bit
//   cpu, pid   numbers
//   task       name of the task that ran
//   state      of a switch, as in the dump
//   time       since the recording's start; with a unit, or in cycles
//   duration   of a span, from entry to exit
//   ret        and every other argument, by its name in the catalogue; one whose numbers have
//              names (tasks, interrupts, errors, functions) may be compared with those
//
// A comparison with what an event does not have is false, whatever the operator. Where `duration`
// or `ret` is used, a span is one thing: entry and exit are selected together, by the entry's
// values and the exit's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/expression.h"
#include "lib/names.h"
#include "lib/trace.h"

namespace fkt {

class Where {
 public:
  // `info` must outlive the result. Error (usage): a field, a name or a value that cannot be meant.
  static Result<Where> bind(const Expression& expression, const TraceInfo& info);

  const std::string& text() const { return text_; }
  bool whole_spans() const { return whole_spans_; }

 private:
  friend class Binder;
  friend class Picker;
  struct Node {
    enum class Kind : std::uint8_t {
      all,
      any,
      no,
      ids,  // what the event's id alone decides: layer, state
      name,
      cpu,
      pid,
      task,
      time,
      duration,
      argument,
    };
    Kind kind = Kind::all;
    Comparison comparison = Comparison::equal;
    std::uint32_t left = 0, right = 0;
    Literal value;                       // a time is already a number of ticks
    std::vector<bool> ids;               // ids, name: which event ids fit
    std::vector<std::uint16_t> by_id;    // argument: position in `fields`; 0: it has none
    std::vector<const Field*> fields{};  // the first one is none
    std::uint32_t slot = 0;              // name: which of the picker's tables
  };

  std::string text_;
  std::vector<Node> nodes_;
  std::uint32_t names_ = 0;  // nodes of Kind::name
  std::uint64_t start_ = 0;  // of the recording (ticks)
  bool whole_spans_ = false;
};

}  // namespace fkt
