// SPDX-License-Identifier: GPL-2.0-only
// ProgramCode: which code each process had mapped, and the functions at its addresses. It is known
// from the list of FKT_SEC_MAPS, from events of mappings (function_entry of perf_event_mmap), and
// from forks and execve(2). The functions are those of the files as they are here, where these are
// the recorded ones: same inode, not changed since the recording.
//
//   ProgramCode code(analysis);
//   for (const Event& event : recording.events()) code.add(event, analysis.add(event));
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "lib/analyse/analysis.h"
#include "lib/analyse/program_symbols.h"

namespace fkt {

class ProgramCode {
 public:
  // analysis: outlives this object. reader: none: functions have no names.
  explicit ProgramCode(const Analysis& analysis, FunctionReader reader = {});

  // Adds an event of which Analysis::add() returned `place`.
  void add(const Event& event, const Analysis::Found& place);

  // Returns "lookup+0x1c [app]", or "app+0x11c0" where the function is not known; "0x7f12": no file
  // was mapped there. is_innermost: the address is not one that a call returns to.
  std::string frame(TaskIndex task, std::uint64_t address, bool is_innermost) const;
  // Returns the name of the function alone: "lookup"; where it is not known, frame().
  std::string function(TaskIndex task, std::uint64_t address, bool is_innermost) const;

 private:
  struct Map {
    std::uint64_t begin = 0, end = 0, offset = 0;  // offset: in the file (bytes)
    std::uint64_t since = 0;                       // ticks
    CodeFile file;
  };
  using Maps = std::map<std::uint64_t, Map>;  // by begin, without overlaps
  struct Process {
    std::shared_ptr<Maps> maps;  // a child has its parent's until one of them changes
    std::uint64_t renamed = 0;   // ticks; execve(2) renames before it maps the program
  };
  struct Place {
    const Map* map = nullptr;
    std::uint64_t offset = 0;  // of the address in the file
    const ProgramFunction* function = nullptr;
  };

  TaskIndex process(TaskIndex task) const;
  const Process* find_process(TaskIndex task) const;  // nullptr: nothing is known of it
  Process& change_process(TaskIndex task);
  void map(Process& process, const Map& added) const;
  void add_map(const Event& event, const EventType& type, TaskIndex task);
  std::optional<Place> find(TaskIndex task, std::uint64_t address, bool is_innermost) const;

  const Analysis& analysis_;
  std::unordered_map<TaskIndex, Process> processes_;
  std::map<std::uint32_t, Process> listed_;  // of FKT_SEC_MAPS, by tgid, until they change
  mutable ProgramSymbols symbols_;           // files are read when a function in them is asked for
};

}  // namespace fkt
