// SPDX-License-Identifier: GPL-2.0-only
// The sections of a file that describe the recording: those before the pages and those after them.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fkt/ioctl.h>

#include "cli/fkt_record/output/part_file.h"
#include "cli/fkt_record/sections/task_list.h"
#include "cli/fkt_record/workload/user.h"
#include "cli/fkt_record/workload/workload.h"
#include "lib/format/file_writer.h"
#include "lib/format/hit_results.h"
#include "lib/record/device.h"

namespace fkt::record {

// The user's request, as the file describes it.
struct RecordingFacts {
  const std::vector<std::string>& command;  // the workload's; empty: none
  const std::vector<std::string>& options;  // fkt_record's
  std::uint64_t mask = 0;
  bool args = false;
  fkt_filter filter = FKT_FILTER_NONE;
  pid_t filter_pid = 0;
  fkt_clock_source clock = FKT_CLOCK_TSC;
  std::uint32_t pow_pages = 0;
};

struct Beginning {
  RecordingFacts asked;
  const fkt_status& status;
  std::function<Result<fkt_clocks>()> clocks;  // reads them
  const TaskList& tasks;
  std::string_view symbols;         // their section, encoded (Sections::bytes())
  const std::optional<User>& user;  // that the workload runs as
  pid_t workload = 0;               // pid; 0: no workload
  bool stream = false;
  std::string names;  // lines for the catalogue: names of functions
  bool maps = false;  // the file says which code processes have mapped
};

// Makes the sections machine, command, clocks, tasks, interrupts, symbols, catalogue and system
// calls.
Result<Sections> sections_before(const Beginning& beginning);

// Returns what all clocks showed when the recording's clock showed `clock` (ticks), not after
// `read`.
fkt_clocks clocks_when(const fkt_clocks& read, std::uint64_t clock);

// Upper bound of the bytes of an FKT_SEC_CLOCKS section, header included.
constexpr std::size_t kClocksBytes = 1024;
// Makes FKT_SEC_CLOCKS again after FKT_START, with the clocks at the recording's start_clock.
Result<Sections> clocks_of_start(const Device& device, fkt_clock_source clock);

// Key: number of the CPU.
using CpuStates = std::map<std::uint32_t, fkt_cpu_status>;
CpuStates cpu_states(const Device& device, std::uint32_t cpus);

struct Ending {
  const fkt_clocks& end;  // read after the stop
  const CpuStates& cpus;  // likewise
  const TaskList& task_list;
  const fkt_status& status;  // read after the stop
  std::uint64_t mask = 0;    // the layers in the mask at the stop
  std::optional<int> workload_status;
  std::vector<Descendant> descendants;
  std::vector<fkt_index_entry> index;  // empty: no index is written
  std::vector<fkt_group_entry> groups;
  PartCpus before;  // events and pages in the files before this one
  // Events and pages in snapshots, which count as overwritten in this file; included in `status`.
  PartCpus snapshots;
  // Payload of FKT_SEC_TASKS_END for a file that follows others, or a recording that a hit has
  // begun.
  std::string tasks;
  std::string definitions;  // payload of FKT_SEC_DEFINITIONS_END; empty: there are none
  const std::optional<HitResults>& hits;
};

// Makes the sections after the pages: totals, interrupts, tasks, index and groups.
Result<Sections> sections_after(const Ending& ending);

// Adds FKT_SEC_INDEX and FKT_SEC_GROUPS; an empty table is omitted.
Status add_tables(Sections& sections, const std::vector<fkt_index_entry>& index,
                  const std::vector<fkt_group_entry>& groups);

// Name of an fkt_stop_reason: "asked", "limit", "full", "error" or "ring".
const char* stop_reason_name(std::uint32_t reason);

}  // namespace fkt::record
