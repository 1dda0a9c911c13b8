// SPDX-License-Identifier: GPL-2.0-only
// What the file tells beside the events: the sections before the pages and those after them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include <fkt/ioctl.h>

#include "cli/fkt_record/part_file.h"
#include "cli/fkt_record/request.h"
#include "cli/fkt_record/user.h"
#include "cli/fkt_record/workload.h"
#include "lib/device.h"
#include "lib/file_writer.h"

namespace fkt::record {

struct Beginning {
  const Request& request;
  const std::optional<User>& user;
  const Device& device;
  pid_t workload = 0;  // 0: none
  bool stream = false;
};

// Machine, command, clocks, tasks, interrupts, symbols, catalogue, system calls. Prints what is
// missing of the symbols.
Result<Sections> sections_before(const Beginning& beginning);

// Bytes that such a section takes at most, with its header.
constexpr std::size_t kClocksBytes = 1024;
// FKT_SEC_CLOCKS again, once the recording has begun: its start is the recording's start_clock.
Result<Sections> clocks_of_start(const Device& device, fkt_clock_source clock);

struct Ending {
  const Device& device;
  const fkt_status& status;  // after the stop
  std::uint64_t mask = 0;    // the layers recorded last
  fkt_clock_source clock = FKT_CLOCK_TSC;
  std::optional<int> workload_status;
  std::vector<Descendant> descendants;
  std::vector<fkt_index_entry> index;  // empty: none is written
  std::vector<fkt_group_entry> groups;
  PartCpus before;     // in files before this one
  PartCpus snapshots;  // in snapshots: to this file they are overwritten; `status` knows of them
  std::string tasks;   // FKT_SEC_TASKS_END of a file that follows others
};

Result<Sections> sections_after(const Ending& ending);

// FKT_SEC_INDEX and FKT_SEC_GROUPS; what is empty is left out.
Status add_tables(Sections& sections, const std::vector<fkt_index_entry>& index,
                  const std::vector<fkt_group_entry>& groups);

// "asked", "limit", "full", "error"
const char* stop_reason_name(std::uint32_t reason);

}  // namespace fkt::record
