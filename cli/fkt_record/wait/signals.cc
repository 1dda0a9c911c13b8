// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/wait/signals.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>

#include "lib/base/os_error.h"

namespace fkt::record {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

timespec to_timespec(std::uint64_t ns) {
  return {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
}

}  // namespace

Result<Signals> Signals::take() {
  Signals signals;
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  signals.end_fd_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  for (const int number : {SIGCHLD, SIGUSR1}) sigaddset(&set, number);
  signals.fd_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.end_fd_ || !signals.fd_) return os_failure("signals");
  sigaddset(&set, SIGPIPE);
  ::sigprocmask(SIG_BLOCK, &set, &signals.mask_before_);
  return signals;
}

std::optional<signalfd_siginfo> Signals::next() const {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != sizeof info) return {};
  return info;
}

Result<Timer> Timer::make(std::uint64_t first_ns, std::uint64_t period_ns) {
  Timer timer;
  timer.fd_ = UniqueFd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const itimerspec when{to_timespec(period_ns), to_timespec(first_ns)};
  if (!timer.fd_ || ::timerfd_settime(timer.fd_.get(), 0, &when, nullptr) != 0) {
    return os_failure("timer");
  }
  return timer;
}

void Timer::clear() const {
  (void)expired();
}

void Timer::set(std::uint64_t first_ns) const {
  const itimerspec when{{}, to_timespec(first_ns)};
  ::timerfd_settime(fd_.get(), 0, &when, nullptr);
}

bool Timer::expired() const {
  std::uint64_t times = 0;
  return ::read(fd_.get(), &times, sizeof times) == sizeof times;
}

void Timer::set_at(std::optional<std::chrono::steady_clock::time_point> when) const {
  itimerspec spec{};
  // 0 would disarm the timer; 1 ns is in the past and fires at once.
  if (when) {
    spec.it_value = to_timespec(std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::chrono::nanoseconds(when->time_since_epoch()).count())));
  }
  // steady_clock is CLOCK_MONOTONIC.
  ::timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

}  // namespace fkt::record
