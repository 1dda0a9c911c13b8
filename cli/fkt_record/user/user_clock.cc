// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/user_clock.h"

#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "lib/base/read_file.h"

namespace fkt::record {
namespace {

constexpr std::uint64_t kLeastMeasured = 20'000'000;  // ns
constexpr int kReadings = 5;

std::uint64_t ns_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

bool kernel_uses_tsc() {
#if defined(__x86_64__)
  const auto name = read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return name && name->starts_with("tsc");
#else
  return false;
#endif
}

}  // namespace

fkt_clock_source UserClock::usable(fkt_clock_source wanted) {
  return wanted == FKT_CLOCK_TSC && kernel_uses_tsc() ? FKT_CLOCK_TSC : FKT_CLOCK_MONO;
}

UserClock::UserClock(fkt_clock_source source) : source_(source), first_(values()) {}

std::uint64_t UserClock::now() const {
#if defined(__x86_64__)
  if (source_ == FKT_CLOCK_TSC) return __rdtsc();
#endif
  return ns_of(CLOCK_MONOTONIC);
}

// Of several readings the one that took the shortest time: nothing came in between.
fkt_clocks UserClock::values() const {
  fkt_clocks best{};
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int i = 0; i < kReadings; i++) {
    fkt_clocks clocks{};
    const std::uint64_t before = now();
    clocks.mono_raw_ns = ns_of(CLOCK_MONOTONIC_RAW);
    clocks.mono_ns = ns_of(CLOCK_MONOTONIC);
    clocks.real_ns = ns_of(CLOCK_REALTIME);
    const std::uint64_t took = now() - before;
    clocks.clock = source_ == FKT_CLOCK_MONO ? clocks.mono_ns : before + took / 2;
    if (took >= shortest) continue;
    shortest = took;
    best = clocks;
  }
  return best;
}

fkt_clocks UserClock::read() const {
  fkt_clocks clocks = values();
  while (clocks.mono_raw_ns - first_.mono_raw_ns < kLeastMeasured) {
    const timespec rest{
        0, static_cast<long>(kLeastMeasured - (clocks.mono_raw_ns - first_.mono_raw_ns))};
    ::nanosleep(&rest, nullptr);
    clocks = values();
  }
  clocks.khz = source_ == FKT_CLOCK_MONO
                   ? 1'000'000
                   : static_cast<std::uint64_t>(
                         static_cast<long double>(clocks.clock - first_.clock) * 1e6L /
                             static_cast<long double>(clocks.mono_raw_ns - first_.mono_raw_ns) +
                         0.5L);
  return clocks;
}

}  // namespace fkt::record
