// SPDX-License-Identifier: GPL-2.0-only
// Names of numbers: system calls, interrupts and devices from the file's own tables; vectors,
// softirqs, traps, errors and signals as on every x86 Linux. The tables are built once; a look-up
// allocates nothing. A number without a name gives an empty string.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/format/metadata.h"

namespace fkt {

class NumberNames {
 public:
  explicit NumberNames(const RecordingInfo& info);

  // The system call's name: "sys_openat"; of a 32-bit call "sys32_openat".
  std::string_view syscall(std::uint64_t number, bool compat) const {
    const auto& names = compat ? syscalls32_ : syscalls_;
    return number < names.size() ? std::string_view(names[number]) : std::string_view();
  }
  // Returns the text for a system call without a name; the number may be negative: "sys_512",
  // "sys_-1".
  static std::string syscall_number(std::uint64_t number, bool compat) {
    return (compat ? "sys32_" : "sys_") + std::to_string(static_cast<std::int64_t>(number));
  }
  // Returns the devices of an interrupt line, from the file's table of interrupts.
  std::string_view irq(std::uint64_t number) const;

  // A device's number in the kernel (dev_t): "8:1".
  static std::string device(std::uint64_t number) {
    return std::to_string(number >> 20) + ':' + std::to_string(number & 0xfffff);
  }
  static std::string_view vector(std::uint64_t number);   // "local_timer"
  static std::string_view softirq(std::uint64_t number);  // "NET_RX"
  static std::string_view trap(std::uint64_t number);     // "divide_error"
  // Name of the error in a system call's return value: "ENOENT" for -2; empty when it is no error.
  static std::string_view error(std::int64_t value);
  // Operation and flags of a request to a disk: "WRITE|SYNC|META".
  static std::string request_flags(std::uint64_t flags);
  static std::string signal(unsigned number);  // "SIGKILL", "SIGRT_1"; "SIG77" when it has no name
  // State in which the previous task left the CPU, by the switch event's id, as ps(1) prints it:
  // "S"; "R+" when it was preempted.
  static std::string_view switch_state(std::uint16_t id);

 private:
  std::vector<std::string> syscalls_, syscalls32_;
  std::unordered_map<std::uint64_t, std::string> irqs_;
};

}  // namespace fkt
