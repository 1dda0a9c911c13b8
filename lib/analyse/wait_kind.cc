// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/wait_kind.h"

#include <algorithm>
#include <array>

namespace fkt {
namespace {

using namespace std::string_view_literals;

struct CallsOfKind {
  WaitKind kind;
  std::array<std::string_view, 10> calls;
};
// Without "sys_", or "sys32_" of 32-bit programs. In fcntl only the wait for a lock of a file
// sleeps so.
constexpr CallsOfKind kCalls[] = {
    {WaitKind::locks,
     {"futex"sv, "futex_wait"sv, "futex_waitv"sv, "flock"sv, "fcntl"sv, "fcntl64"sv, "semop"sv,
      "semtimedop"sv}},
    {WaitKind::timers, {"nanosleep"sv, "clock_nanosleep"sv}},
    {WaitKind::network,
     {"recvfrom"sv, "recvmsg"sv, "recvmmsg"sv, "sendto"sv, "sendmsg"sv, "sendmmsg"sv, "accept"sv,
      "accept4"sv, "connect"sv}},
};
constexpr CallsOfKind kWakers[] = {
    {WaitKind::network, {"softirq NET_RX"sv, "softirq NET_TX"sv}},
    {WaitKind::timers, {"softirq TIMER"sv, "softirq HRTIMER"sv, "vector local_timer"sv}},
    {WaitKind::disk, {"softirq BLOCK"sv}},
};

template <std::size_t N>
const WaitKind* find(const CallsOfKind (&table)[N], std::string_view name) {
  for (const CallsOfKind& row : table) {
    if (std::ranges::find(row.calls, name) != row.calls.end()) return &row.kind;
  }
  return nullptr;
}

std::string_view name_of(const Analysis& analysis, TypeIndex type) {
  return type < analysis.types().size() ? std::string_view(analysis.types()[type].name) : "?"sv;
}

}  // namespace

WaitKind wait_kind(const Analysis& analysis, const TaskActivity::Period& period) {
  const std::string_view call = name_of(analysis, period.call);
  const WaitKind* const by_call =
      call.starts_with("sys") ? find(kCalls, call.substr(call.find('_') + 1)) : nullptr;
  if (by_call != nullptr) return *by_call;
  if (period.doing == TaskActivity::Doing::disk) {
    const bool by_task = !period.by_interrupt && period.waker != TaskActivity::kNoWaker;
    return by_task && !analysis.tasks()[period.waker].kernel ? WaitKind::locks : WaitKind::disk;
  }
  if (!period.by_interrupt) return WaitKind::other;
  const WaitKind* const kind = find(kWakers, name_of(analysis, period.waker));
  return kind != nullptr ? *kind : WaitKind::other;
}

}  // namespace fkt
