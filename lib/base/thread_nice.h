// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace fkt {

// The nice value of a thread that prepares or takes over work of another one, which many wait for:
// that one comes first if there are not enough CPUs.
inline constexpr int kHelperNice = 5;

// Sets the nice value (0 to 19) of the calling thread. A failure is ignored: it is only a wish.
inline void set_thread_nice(int nice) {
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice));
}

}  // namespace fkt
