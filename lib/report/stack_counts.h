// SPDX-License-Identifier: GPL-2.0-only
// How often each stack was recorded, as lines that flame graphs are made of:
// "TASK;FUNCTION;...;FUNCTION COUNT", the outermost function first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "lib/analyse/analysis.h"
#include "lib/analyse/program_code.h"
#include "lib/base/text_writer.h"

namespace fkt {

class StackCounts {
 public:
  // analysis: outlives this object. reader: as of ProgramCode.
  explicit StackCounts(const Analysis& analysis, FunctionReader reader = {})
      : analysis_(analysis), info_(analysis.info()), code_(analysis, std::move(reader)) {}

  // Adds the event, of which Analysis::add() returned `place`; stacks of events that are not shown
  // do not count. A user stack belongs to the stack of the kernel before it, of its CPU and thread,
  // or is one alone.
  void add(const Event& event, const Analysis::Found& place);
  bool empty() const { return counts_.empty() && pending_.empty(); }
  // Writes a line for each stack, in their order as texts.
  void write(TextWriter& out);

 private:
  struct Pending {  // a stack of the kernel whose user stack may follow
    std::uint32_t pid = 0;
    std::string task, functions;
  };

  std::string functions(const Field& field, const Event& event, TaskIndex task) const;
  void finish(const Pending& pending, const std::string& user);

  const Analysis& analysis_;
  const RecordingInfo& info_;
  ProgramCode code_;
  std::map<std::uint32_t, Pending> pending_;  // by CPU
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace fkt
