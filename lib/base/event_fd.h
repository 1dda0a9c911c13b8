// SPDX-License-Identifier: GPL-2.0-only
// Descriptors by which a thread wakes another one that polls (eventfd(2)).
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "lib/base/unique_fd.h"

namespace fkt {

// Returns a descriptor that becomes readable by signal_event(), or an empty one with errno set.
// Reading and writing it never blocks.
inline UniqueFd make_event_fd() {
  return UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

// A write fails only while 2^64 - 2 signals have not been read: the event is readable then too.
inline void signal_event(const UniqueFd& event) {
  const std::uint64_t one = 1;
  (void)!::write(event.get(), &one, sizeof one);
}

// Makes the event unreadable until the next signal.
inline void clear_event(const UniqueFd& event) {
  std::uint64_t count = 0;
  (void)!::read(event.get(), &count, sizeof count);
}

}  // namespace fkt
