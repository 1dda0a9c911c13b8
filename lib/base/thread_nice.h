// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace fkt {

// Nice value of helper threads, which read ahead or take over work: if CPUs are scarce, the thread
// that they work for runs first.
inline constexpr int kHelperNice = 5;

// Sets the nice value (0 to 19) of the calling thread. A failure is ignored: it costs only speed.
inline void set_thread_nice(int nice) {
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice));
}

}  // namespace fkt
