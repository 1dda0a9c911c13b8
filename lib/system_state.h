// SPDX-License-Identifier: GPL-2.0-only
// What a recording tells about the machine that it was made on: the payloads of the sections that
// describe it, in the forms that file.h lists.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <fkt/ioctl.h>

#include "lib/result.h"

namespace fkt {

// All of a file, also one of /proc whose size reads 0.
Result<std::string> read_file(const std::string& path);

// FKT_SEC_MACHINE. cpus: possible CPUs, highest number + 1.
std::string machine_json(std::uint32_t cpus);

// FKT_SEC_CLOCKS.
std::string clocks_json(fkt_clock_source source, const fkt_clocks& start);
// One moment on all clocks, as "start" and "end" have it.
nlohmann::json clock_pair_json(const fkt_clocks& clocks);

// Which threads of /proc a list of tasks has, and by which numbers.
struct TaskRules {
  // The number that the recording has for a thread; nothing: it has none.
  std::function<std::optional<std::uint32_t>(std::uint32_t tid)> number;
  std::optional<std::uint32_t> owner;  // this user's processes alone
};

// FKT_SEC_TASKS: the threads of now.
std::string task_lines(const TaskRules& rules);

// FKT_SEC_INTERRUPTS and FKT_SEC_INTERRUPTS_END.
std::string interrupt_lines();

// FKT_SEC_SYSCALLS.
std::string syscall_lines();

// JSON text in which bytes that are no UTF-8 are replaced.
std::string dump_json(const nlohmann::json& json);

}  // namespace fkt
