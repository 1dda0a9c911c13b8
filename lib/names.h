// SPDX-License-Identifier: GPL-2.0-only
// Names of numbers: system calls, interrupts and devices from the file's own tables; vectors,
// softirqs, traps, errors and signals as x86 Linux has them on every machine. All are made once;
// a look-up allocates nothing. A number without a name gives an empty one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/trace.h"

namespace fkt {

class Names {
 public:
  explicit Names(const TraceInfo& info);

  // "sys_openat", 32-bit calls "sys32_openat".
  std::string_view syscall(std::uint64_t number, bool compat) const {
    const auto& names = compat ? syscalls32_ : syscalls_;
    return number < names.size() ? std::string_view(names[number]) : std::string_view();
  }
  // ... and of one without a name, by its number, which may be negative: "sys_512", "sys_-1".
  static std::string syscall_number(std::uint64_t number, bool compat) {
    return (compat ? "sys32_" : "sys_") + std::to_string(static_cast<std::int64_t>(number));
  }
  // The devices of an interrupt line, as the file has them.
  std::string_view irq(std::uint64_t number) const;

  static std::string_view vector(std::uint64_t number);   // "local_timer"
  static std::string_view softirq(std::uint64_t number);  // "NET_RX"
  static std::string_view trap(std::uint64_t number);     // "divide_error"
  // Of a system call's return value: "ENOENT" for -2; empty if it is no error.
  static std::string_view error(std::int64_t value);
  static std::string signal(unsigned number);  // "SIGKILL"; "SIG77" when it has no name
  // How a switch's id says that the thread left: "S"; as in ps(1), "R+" when preempted.
  static std::string_view switch_state(std::uint16_t id);

 private:
  std::vector<std::string> syscalls_, syscalls32_;
  std::unordered_map<std::uint64_t, std::string> irqs_;
};

}  // namespace fkt
