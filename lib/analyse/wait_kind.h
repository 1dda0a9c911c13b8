// SPDX-License-Identifier: GPL-2.0-only
// What a sleeping task waited for, roughly: by the kind of its sleep, its call, and what woke it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lib/analyse/task_activity.h"

namespace fkt {

enum class WaitKind : std::uint8_t { disk, locks, network, timers, other };
inline constexpr std::size_t kWaitKinds = 5;

// Returns the kind of a period in which a task slept.
//
// - locks: in futex, flock, fcntl or semop, or uninterruptibly until a task that is no kernel
// thread woke it;
// - disk: any other uninterruptible sleep, and waits for finished requests;
// - timers: in a call that sleeps, or woken by a timer;
// - network: in a call for sockets, or woken by packets.
WaitKind wait_kind(const Analysis& analysis, const TaskActivity::Period& period);

}  // namespace fkt
