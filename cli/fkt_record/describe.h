// SPDX-License-Identifier: GPL-2.0-only
// What the file tells beside the events: the sections before the pages and those after them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include <fkt/ioctl.h>

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

struct Ending {
  const Device& device;
  const fkt_status& status;  // after the stop
  std::uint64_t mask = 0;    // the layers recorded last
  fkt_clock_source clock = FKT_CLOCK_TSC;
  std::optional<int> workload_status;
  std::vector<Descendant> descendants;
  std::vector<fkt_index_entry> index;  // empty: none is written
};

Result<Sections> sections_after(const Ending& ending);

// "asked", "limit", "full", "error"
const char* stop_reason_name(std::uint32_t reason);

}  // namespace fkt::record
