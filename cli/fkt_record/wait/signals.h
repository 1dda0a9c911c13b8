// SPDX-License-Identifier: GPL-2.0-only
// Signals and timers as pollable descriptors: no signal handlers, no global state.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt::record {

class Signals {
 public:
  // Blocks the signals that a recording reacts to, and SIGPIPE, so that writing to a closed pipe is
  // an ordinary error.
  static Result<Signals> take();

  int fd() const { return fd_.get(); }
  // Readable when a signal that ends the recording is pending.
  int end_fd() const { return end_fd_.get(); }
  // The signal mask before take(), for the workload.
  const sigset_t& mask_before() const { return mask_before_; }
  // Returns the next pending signal, if any.
  std::optional<signalfd_siginfo> next() const;

 private:
  UniqueFd fd_, end_fd_;
  sigset_t mask_before_{};
};

class Timer {
 public:
  // Fires after `first_ns`, then every `period_ns`; only once if `period_ns` is 0. Times in ns.
  static Result<Timer> make(std::uint64_t first_ns, std::uint64_t period_ns);
  int fd() const { return fd_.get(); }
  void clear() const;
  // Fires once after `first_ns`; 0 disarms the timer.
  void set(std::uint64_t first_ns) const;
  // Returns true if the timer has fired since it was set or cleared, and clears it.
  bool expired() const;
  // Fires once at this time; nothing disarms the timer.
  void set_at(std::optional<std::chrono::steady_clock::time_point> when) const;

 private:
  UniqueFd fd_;
};

}  // namespace fkt::record
