// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/start/start_checks.h"

#include <signal.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include <fmt/core.h>

namespace fkt::record {

Status check_process(fkt_filter filter, pid_t pid) {
  if (filter != FKT_FILTER_PROCESS || ::kill(pid, 0) == 0 || errno != ESRCH) return Done{};
  return Error{ErrorCode::io, fmt::format("--pid: no process has the pid {}", pid)};
}

Status check_access(fkt_filter filter, const fkt_status& status) {
  if ((status.flags & FKT_STATUS_ALL) || filter == FKT_FILTER_JOIN ||
      filter == FKT_FILTER_PROCESS) {
    return Done{};
  }
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return Error{ErrorCode::io,
               "all users' processes are recorded with CAP_PERFMON alone: record your own with "
               "--only or --pid, or use sudo, or have root run: setcap cap_perfmon+ep " +
                   (error ? std::string("fkt_record") : self.string())};
}

Status check_clock(const fkt_clocks& clocks, fkt_clock_source source) {
  if (source != FKT_CLOCK_TSC || clocks.tsc_usable) return Done{};
  std::string faults;
  if (!(clocks.tsc_flags & 1)) faults += "constant, ";
  if (!(clocks.tsc_flags & 2)) faults += "non-stop, ";
  return Error{ErrorCode::io, "this machine's TSC is not " + faults +
                                  "synchronised and stable (says the kernel); use --clock mono"};
}

}  // namespace fkt::record
