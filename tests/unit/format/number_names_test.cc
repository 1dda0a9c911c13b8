// SPDX-License-Identifier: GPL-2.0-only
// Tests the names of numbers: those of the file's tables, and those of every x86 Linux.
#include <signal.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <limits>
#include <set>
#include <string>

#include "lib/format/number_names.h"

using namespace fkt;

namespace {

// The names that a table has for numbers below `end`. Fails if two numbers have the same one.
template <class Name>
std::set<std::string> names_below(std::uint64_t end, Name name) {
  std::set<std::string> names;
  for (std::uint64_t number = 0; number < end; number++) {
    const std::string found(name(number));
    INFO(number << " is " << found);
    if (!found.empty()) CHECK(names.insert(found).second);
  }
  return names;
}

}  // namespace

TEST_CASE("system calls have the names of the file's tables") {
  RecordingInfo info;
  info.syscalls = {{0, "read"}, {257, "openat"}, {65535, "last"}, {65536, "damage"}};
  info.syscalls32 = {{3, "read"}};
  const NumberNames names(info);
  CHECK(names.syscall(0, false) == "sys_read");
  CHECK(names.syscall(257, false) == "sys_openat");
  CHECK(names.syscall(65535, false) == "sys_last");
  CHECK(names.syscall(3, true) == "sys32_read");
  CHECK(names.syscall(1, false) == "");
  CHECK(names.syscall(3, false) == "");
  CHECK(names.syscall(0, true) == "");
  CHECK(names.syscall(4, true) == "");
  // A number that no kernel has does not determine the table's size.
  CHECK(names.syscall(65536, false) == "");
  CHECK(names.syscall(std::numeric_limits<std::uint64_t>::max(), false) == "");
  CHECK(NumberNames::syscall_number(512, false) == "sys_512");
  CHECK(NumberNames::syscall_number(512, true) == "sys32_512");
  CHECK(NumberNames::syscall_number(~std::uint64_t{0}, false) == "sys_-1");
  CHECK(NumberNames({}).syscall(0, false) == "");
}

TEST_CASE("interrupt lines have the devices of the file's table") {
  RecordingInfo info;
  const auto add = [&](const char* number, const char* devices) {
    info.interrupts.emplace_back();
    info.interrupts.back().number = number;
    info.interrupts.back().devices = devices;
  };
  add("14", "ide0");
  add("27", "virtio0, virtio1");
  add("NMI", "Non-maskable interrupts");
  add("15x", "not a number");
  add("", "none");
  const NumberNames names(info);
  CHECK(names.irq(14) == "ide0");
  CHECK(names.irq(27) == "virtio0, virtio1");
  CHECK(names.irq(15) == "");
  CHECK(names.irq(0) == "");
}

TEST_CASE("vectors of x86") {
  CHECK(NumberNames::vector(0xec) == "local_timer");
  CHECK(NumberNames::vector(0xfd) == "reschedule");
  CHECK(NumberNames::vector(0xfb) == "call_function_single");
  CHECK(NumberNames::vector(0xf6) == "irq_work");
  CHECK(NumberNames::vector(0xff) == "spurious_apic");
  CHECK(NumberNames::vector(0xf5) == "perf_guest_mediated_pmi");
  CHECK(NumberNames::vector(0xea) == "");
  CHECK(NumberNames::vector(0x1ec) == "");
  CHECK(names_below(4096, NumberNames::vector).size() == 21);
}

TEST_CASE("softirqs and traps") {
  CHECK(NumberNames::softirq(0) == "HI");
  CHECK(NumberNames::softirq(3) == "NET_RX");
  CHECK(NumberNames::softirq(9) == "RCU");
  CHECK(NumberNames::softirq(10) == "");
  CHECK(names_below(4096, NumberNames::softirq).size() == 10);
  CHECK(NumberNames::trap(0) == "divide_error");
  CHECK(NumberNames::trap(3) == "int3");
  CHECK(NumberNames::trap(6) == "invalid_op");
  CHECK(NumberNames::trap(8) == "double_fault");
  CHECK(NumberNames::trap(13) == "general_protection");
  CHECK(NumberNames::trap(14) == "page_fault");
  CHECK(NumberNames::trap(16) == "fpu_error");
  CHECK(NumberNames::trap(18) == "machine_check");
  CHECK(NumberNames::trap(21) == "control_protection");
  CHECK(NumberNames::trap(22) == "");
  CHECK(NumberNames::trap(32) == "iret");
  CHECK(names_below(4096, NumberNames::trap).size() == 24);
}

TEST_CASE("errors are named in return values only") {
  CHECK(NumberNames::error(-EPERM) == "EPERM");
  CHECK(NumberNames::error(-ENOENT) == "ENOENT");
  CHECK(NumberNames::error(-EAGAIN) == "EAGAIN");
  CHECK(NumberNames::error(-EHWPOISON) == "EHWPOISON");
  // Those of the kernel alone.
  CHECK(NumberNames::error(-512) == "ERESTARTSYS");
  CHECK(NumberNames::error(-516) == "ERESTART_RESTARTBLOCK");
  CHECK(NumberNames::error(-529) == "EIOCBQUEUED");
  for (const std::int64_t other :
       {std::int64_t{0}, std::int64_t{2}, std::int64_t{512}, std::int64_t{-4095},
        std::int64_t{-4096}, std::numeric_limits<std::int64_t>::min()}) {
    INFO(other);
    CHECK(NumberNames::error(other) == "");
  }
  const auto all = names_below(4096, [](std::uint64_t number) {
    return NumberNames::error(-static_cast<std::int64_t>(number));
  });
  CHECK(all.size() == 131 + 8);  // 1 to 133 without 41 and 58, which no system call returns
}

TEST_CASE("signals, devices, and the states in which a task leaves its CPU") {
  CHECK(NumberNames::signal(SIGHUP) == "SIGHUP");
  CHECK(NumberNames::signal(SIGKILL) == "SIGKILL");
  CHECK(NumberNames::signal(SIGSYS) == "SIGSYS");
  CHECK(NumberNames::signal(0) == "SIG0");
  CHECK(NumberNames::signal(77) == "SIG77");
  CHECK(NumberNames::signal(~0U) == "SIG" + std::to_string(~0U));
  CHECK(NumberNames::device(8 << 20 | 1) == "8:1");
  CHECK(NumberNames::device(0) == "0:0");
  CHECK(NumberNames::device(std::uint64_t{4095} << 20 | 0xfffff) == "4095:1048575");
  CHECK(NumberNames::switch_state(FKT_E_SWITCH_S) == "S");
  CHECK(NumberNames::switch_state(FKT_E_SWITCH_D) == "D");
  CHECK(NumberNames::switch_state(FKT_E_SWITCH_TRACED) == "t");
  CHECK(NumberNames::switch_state(FKT_E_SWITCH_PREEMPT) == "R+");
  CHECK(NumberNames::switch_state(FKT_E_NMI) == "");
  const auto states = names_below(FKT_ID_MASK + 1, [](std::uint64_t id) {
    return NumberNames::switch_state(static_cast<std::uint16_t>(id));
  });
  CHECK(states.size() == FKT_E_SWITCH_PREEMPT - FKT_E_SWITCH_R + 1);
}
