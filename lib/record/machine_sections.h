// SPDX-License-Identifier: GPL-2.0-only
// Describes the machine that a recording is made on: the payloads of the file's sections about it,
// in the forms that file.h defines.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fkt/ioctl.h>

namespace fkt {

// Returns the payload of FKT_SEC_MACHINE. cpus: possible CPUs, highest number + 1.
std::string machine_json(std::uint32_t cpus);

// Returns the payload of FKT_SEC_CLOCKS. start: the clocks' values at the recording's start.
std::string clocks_json(fkt_clock_source source, const fkt_clocks& start);

// Which threads of /proc are listed, and under which numbers.
struct TaskRules {
  // Returns the number that the recording uses for a thread, or nothing when it uses none.
  std::function<std::optional<std::uint32_t>(std::uint32_t tid)> number;
  std::optional<std::uint32_t> owner;  // only processes of this user
};

// Calls visit(tgid, number) for each process that is listed; number: the recording's.
void for_each_process(const TaskRules& rules,
                      const std::function<void(std::uint32_t, std::uint32_t)>& visit);

// Returns the line of thread `tid` of process `tgid` in FKT_SEC_TASKS, under its own number, with
// its newline; empty: there is no such thread.
std::string task_line_of(std::uint32_t tgid, std::uint32_t tid);

// Returns the payload of FKT_SEC_TASKS: the threads that exist at the call.
std::string task_lines(const TaskRules& rules);

// Returns the payload of FKT_SEC_INTERRUPTS and FKT_SEC_INTERRUPTS_END.
std::string interrupt_lines();

// Returns what this kernel does not let the loaded module record, as far as that was tried: a line
// each, as "the begin of NMIs".
std::vector<std::string> kernel_lacks();
// Returns how many classes of tracepoints have no fields of their own, because the kernel's headers
// do not describe them.
std::size_t tracepoints_left_out();

// Returns the payload of FKT_SEC_SYSCALLS.
std::string syscall_lines();

}  // namespace fkt
