// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/number_names.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include <fmt/core.h>

namespace fkt {
namespace {

// A higher number in the file's table is damage; it must not determine a table's size.
constexpr std::uint32_t kMaxSyscall = 1 << 16;
constexpr unsigned kFirstRealTime = 32, kLastRealTime = 64;  // signals of the kernel
constexpr std::int64_t kMaxError = 4095;                     // the kernel's MAX_ERRNO

std::vector<std::string> syscall_names(const std::map<std::uint32_t, std::string>& table,
                                       std::string_view prefix) {
  std::vector<std::string> names;
  for (const auto& [number, name] : table) {
    if (number >= kMaxSyscall) break;
    names.resize(number + 1);
    names[number] = std::string(prefix) + name;
  }
  return names;
}

// Errors internal to the kernel: the exit event of a system call that a signal interrupted has them
// as its return value.
std::string_view kernel_error(std::int64_t number) {
  switch (number) {
    case 512:
      return "ERESTARTSYS";
    case 513:
      return "ERESTARTNOINTR";
    case 514:
      return "ERESTARTNOHAND";
    case 515:
      return "ENOIOCTLCMD";
    case 516:
      return "ERESTART_RESTARTBLOCK";
    case 517:
      return "EPROBE_DEFER";
    case 524:
      return "ENOTSUPP";
    case 529:
      return "EIOCBQUEUED";
    default:
      return {};
  }
}

}  // namespace

NumberNames::NumberNames(const RecordingInfo& info)
    : syscalls_(syscall_names(info.syscalls, "sys_")),
      syscalls32_(syscall_names(info.syscalls32, "sys32_")) {
  for (const InterruptSource& source : info.interrupts) {
    std::uint64_t number = 0;
    const char* end = source.number.data() + source.number.size();
    const auto [stop, error] = std::from_chars(source.number.data(), end, number);
    if (error == std::errc() && stop == end) irqs_[number] = source.devices;
  }
}

std::string_view NumberNames::irq(std::uint64_t number) const {
  const auto found = irqs_.find(number);
  return found == irqs_.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view NumberNames::vector(std::uint64_t number) {
  switch (number) {  // arch/x86/include/asm/irq_vectors.h; tests/kernel_names.py compares them
    case 0xff:
      return "spurious_apic";
    case 0xfe:
      return "error_apic";
    case 0xfd:
      return "reschedule";
    case 0xfc:
      return "call_function";
    case 0xfb:
      return "call_function_single";
    case 0xfa:
      return "thermal_apic";
    case 0xf9:
      return "threshold_apic";
    case 0xf8:
      return "reboot";
    case 0xf7:
      return "x86_platform_ipi";
    case 0xf6:
      return "irq_work";
    case 0xf5:
      return "perf_guest_mediated_pmi";
    case 0xf4:
      return "deferred_error_apic";
    case 0xf3:
      return "hypervisor_callback";
    case 0xf2:
      return "posted_intr";
    case 0xf1:
      return "posted_intr_wakeup";
    case 0xf0:
      return "posted_intr_nested";
    case 0xef:
      return "managed_irq_shutdown";
    case 0xee:
      return "hyperv_reenlightenment";
    case 0xed:
      return "hyperv_stimer0";
    case 0xec:
      return "local_timer";
    case 0xeb:
      return "posted_msi_notification";
    default:
      return {};
  }
}

std::string_view NumberNames::softirq(std::uint64_t number) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"};
  return number < kNames.size() ? kNames[number] : std::string_view();
}

std::string_view NumberNames::trap(std::uint64_t number) {
  static constexpr std::array<std::string_view, 22> kNames = {"divide_error",
                                                              "debug",
                                                              "nmi",
                                                              "int3",
                                                              "overflow",
                                                              "bounds",
                                                              "invalid_op",
                                                              "device_not_available",
                                                              "double_fault",
                                                              "segment_overrun",
                                                              "invalid_tss",
                                                              "segment_not_present",
                                                              "stack_segment",
                                                              "general_protection",
                                                              "page_fault",
                                                              "spurious",
                                                              "fpu_error",
                                                              "alignment_check",
                                                              "machine_check",
                                                              "simd_error",
                                                              "virtualization",
                                                              "control_protection"};
  if (number == 29) return "vmm_communication";
  if (number == 32) return "iret";
  return number < kNames.size() ? kNames[number] : std::string_view();
}

std::string_view NumberNames::error(std::int64_t value) {
  if (value >= 0 || value < -kMaxError) return {};
  if (const std::string_view name = kernel_error(-value); !name.empty()) return name;
  const char* name = strerrorname_np(static_cast<int>(-value));
  return name != nullptr ? std::string_view(name) : std::string_view();
}

std::string NumberNames::request_flags(std::uint64_t flags) {
  constexpr unsigned kOperationBits = 8;
  static constexpr std::pair<unsigned, std::string_view> kOperations[] = {
      {0, "READ"},        {1, "WRITE"},        {2, "FLUSH"},       {3, "DISCARD"},
      {5, "ERASE"},       {7, "ZONE_APPEND"},  {9, "ZEROES"},      {11, "ZONE_OPEN"},
      {13, "ZONE_CLOSE"}, {15, "ZONE_FINISH"}, {17, "ZONE_RESET"}, {19, "ZONE_RESET_ALL"},
      {34, "DRIVER_IN"},  {35, "DRIVER_OUT"}};
  // The flags from bit 8 on, up to the last one that means the same on all kernels.
  static constexpr std::string_view kFlags[] = {"FAILFAST_DEV",
                                                "FAILFAST_TRANSPORT",
                                                "FAILFAST_DRIVER",
                                                "SYNC",
                                                "META",
                                                "PRIO",
                                                "NOMERGE",
                                                "IDLE",
                                                "INTEGRITY",
                                                "FUA",
                                                "PREFLUSH",
                                                "RAHEAD",
                                                "BACKGROUND",
                                                "NOWAIT"};
  const std::uint64_t operation = flags & ((1U << kOperationBits) - 1);
  const auto* const known =
      std::ranges::find(kOperations, operation, &std::pair<unsigned, std::string_view>::first);
  std::string text =
      known == std::end(kOperations) ? std::to_string(operation) : std::string(known->second);
  for (unsigned bit = 0; bit < std::size(kFlags); bit++) {
    const std::uint64_t flag = std::uint64_t{1} << (kOperationBits + bit);
    if ((flags & flag) != 0) text.append(1, '|').append(kFlags[bit]);
    flags &= ~flag;
  }
  if (flags > operation) text += fmt::format("|{:#x}", flags - operation);
  return text;
}

std::string NumberNames::signal(unsigned number) {
  if (number >= kFirstRealTime && number <= kLastRealTime) {
    return "SIGRT_" + std::to_string(number - kFirstRealTime);
  }
  const char* name = sigabbrev_np(static_cast<int>(number));
  return "SIG" + (name != nullptr ? std::string(name) : std::to_string(number));
}

std::string_view NumberNames::switch_state(std::uint16_t id) {
  switch (id) {
    case FKT_E_SWITCH_R:
      return "R";
    case FKT_E_SWITCH_S:
      return "S";
    case FKT_E_SWITCH_D:
      return "D";
    case FKT_E_SWITCH_T:
      return "T";
    case FKT_E_SWITCH_TRACED:
      return "t";
    case FKT_E_SWITCH_X:
      return "X";
    case FKT_E_SWITCH_Z:
      return "Z";
    case FKT_E_SWITCH_P:
      return "P";
    case FKT_E_SWITCH_I:
      return "I";
    case FKT_E_SWITCH_PREEMPT:
      return "R+";
    default:
      return {};
  }
}

}  // namespace fkt
