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
constexpr CallsOfKind kCalls[] = {
    {WaitKind::locks, {"sys_futex"sv, "sys_futex_wait"sv, "sys_futex_waitv"sv}},
    {WaitKind::timers, {"sys_nanosleep"sv, "sys_clock_nanosleep"sv}},
    {WaitKind::network,
     {"sys_recvfrom"sv, "sys_recvmsg"sv, "sys_recvmmsg"sv, "sys_sendto"sv, "sys_sendmsg"sv,
      "sys_sendmmsg"sv, "sys_accept"sv, "sys_accept4"sv, "sys_connect"sv}},
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
  if (const WaitKind* kind = find(kCalls, name_of(analysis, period.call))) return *kind;
  if (period.doing == TaskActivity::Doing::disk) {
    const bool by_task = !period.by_interrupt && period.waker != TaskActivity::kNoWaker;
    return by_task && !analysis.tasks()[period.waker].kernel ? WaitKind::locks : WaitKind::disk;
  }
  if (!period.by_interrupt) return WaitKind::other;
  const WaitKind* const kind = find(kWakers, name_of(analysis, period.waker));
  return kind != nullptr ? *kind : WaitKind::other;
}

}  // namespace fkt
