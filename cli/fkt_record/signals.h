// SPDX-License-Identifier: GPL-2.0-only
// Signals and timers as descriptors to poll: no handlers, no global state.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "lib/result.h"
#include "lib/unique_fd.h"

namespace fkt::record {

class Signals {
 public:
  // Blocks the signals that a recording takes notice of, and SIGPIPE, so that a closed pipe is an
  // error like others.
  static Result<Signals> take();

  int fd() const { return fd_.get(); }
  // Readable when one waits that asks for an end.
  int end_fd() const { return end_fd_.get(); }
  // The mask as it was: the workload's.
  const sigset_t& mask_before() const { return mask_before_; }
  // The next one that waits.
  std::optional<signalfd_siginfo> next() const;

 private:
  UniqueFd fd_, end_fd_;
  sigset_t mask_before_{};
};

class Timer {
 public:
  // Fires after `first_ns`, then every `period_ns`, once if that is 0.
  static Result<Timer> make(std::uint64_t first_ns, std::uint64_t period_ns);
  int fd() const { return fd_.get(); }
  void clear() const;
  // Fires once, after so long; 0: never.
  void set(std::uint64_t first_ns) const;
  // Has it fired since it was set or cleared? Clears it.
  bool expired() const;
  // Fires once, then; nothing: not at all.
  void set_at(std::optional<std::chrono::steady_clock::time_point> when) const;

 private:
  UniqueFd fd_;
};

}  // namespace fkt::record
