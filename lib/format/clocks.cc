// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/clocks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "lib/base/parse.h"

namespace fkt {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;

// The readings of the two clocks of a pair are some 100 ns apart. Below this length of a recording
// that error would show in the quotient, so the kernel's own frequency is used.
constexpr std::uint64_t kMeasurableNs = 100'000'000;

bool ended(const Clocks& c) {
  return c.end && c.end->clock > c.start.clock && c.end->mono_raw_ns > c.start.mono_raw_ns;
}

// Rounds to the nearest integer, limited to the range of the type.
std::uint64_t rounded(long double value) {
  if (!(value > 0)) return 0;
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  return value >= static_cast<long double>(most) ? most
                                                 : static_cast<std::uint64_t>(std::roundl(value));
}

// Parses "12" or "1.5" in a unit of `unit_ns` nanoseconds; out: nanoseconds.
bool parse_decimal(std::string_view text, std::uint64_t unit_ns, long double& out) {
  const bool has_point = text.find('.') != std::string_view::npos;
  const std::string_view whole_text = take_until(text, '.');
  std::uint64_t whole = 0, fraction = 0;
  if (!parse_number(whole_text, whole)) return false;
  if (has_point && !parse_number(text, fraction)) return false;
  const long double scale = std::pow(10.0L, static_cast<long double>(text.size()));
  out = (static_cast<long double>(whole) +
         (has_point ? static_cast<long double>(fraction) / scale : 0.0L)) *
        static_cast<long double>(unit_ns);
  return true;
}

// Parses "HH:MM", "HH:MM:SS" or "HH:MM:SS.frac"; out: nanoseconds since midnight.
bool parse_time_of_day(std::string_view text, std::int64_t& out) {
  unsigned hours = 0, minutes = 0;
  long double ns = 0;
  if (!parse_number(take_until(text, ':'), hours) || hours > 23) return false;
  if (!parse_number(take_until(text, ':'), minutes) || minutes > 59) return false;
  if (!text.empty() && (!parse_decimal(text, kSecond, ns) || ns >= 61.0L * kSecond)) return false;
  out = (hours * 60 + minutes) * 60 * kSecond + static_cast<std::int64_t>(rounded(ns));
  return true;
}

// others: of the forms, the last ones.
Error not_a_time(std::string_view text, const char* others) {
  return {ErrorCode::usage, "\"" + std::string(text) +
                                "\" is no time: give a number with ns, us, ms or s, " + others};
}

// A stretch in which the wall clock ran evenly, as far as it was read. It may be set and slewed
// while recording, so that its times are interpolated between its own readings.
struct WallStretch {
  ClockPair from;
  std::uint64_t until;  // ticks; that of the next pair, or for ever
  long double ns_per_tick;
};

// Calls take(stretch) for the stretches in the order of time, until it returns true.
template <class Take>
void for_wall_stretches(const Clocks& clocks, Take take) {
  const long double own = kSecond / static_cast<long double>(clocks.ticks_per_second());
  ClockPair from = clocks.start;
  long double rate = own;
  const auto passed_on = [&](const ClockPair& to) {
    if (to.clock <= from.clock) return false;
    rate = (static_cast<long double>(to.real_ns) - static_cast<long double>(from.real_ns)) /
           static_cast<long double>(to.clock - from.clock);
    // A clock that was set, not slewed: when is not known, so it ran on until the later reading.
    if (std::abs(rate / own - 1) > 0.2L) rate = own;
    const WallStretch stretch{from, to.clock, rate};
    from = to;
    return take(stretch);
  };
  for (const ClockPair& pair : clocks.between) {
    if (passed_on(pair)) return;
  }
  if (ended(clocks) && passed_on(*clocks.end)) return;
  take(WallStretch{from, std::numeric_limits<std::uint64_t>::max(), rate});
}

// Returns the stamp (ticks) at which the wall clock first showed `real_ns`, or the recording's
// start for times before it.
std::uint64_t clock_at(const Clocks& clocks, std::int64_t real_ns) {
  std::uint64_t clock = clocks.start.clock;
  if (real_ns <= static_cast<std::int64_t>(clocks.start.real_ns)) return clock;
  for_wall_stretches(clocks, [&](const WallStretch& stretch) {
    const std::int64_t since = real_ns - static_cast<std::int64_t>(stretch.from.real_ns);
    clock = stretch.from.clock + rounded(static_cast<long double>(since) / stretch.ns_per_tick);
    return clock < stretch.until;
  });
  return clock;
}

}  // namespace

double Clocks::ticks_per_second() const {
  if (ended(*this) && end->mono_raw_ns - start.mono_raw_ns >= kMeasurableNs) {
    return static_cast<double>(end->clock - start.clock) * 1e9 /
           static_cast<double>(end->mono_raw_ns - start.mono_raw_ns);
  }
  // A file without a frequency counts in nanoseconds, which avoids a division by zero.
  return khz > 0 ? static_cast<double>(khz) * 1000.0 : 1e9;
}

std::uint64_t Clocks::real_ns(std::uint64_t clock) const {
  std::uint64_t real = 0;
  for_wall_stretches(*this, [&](const WallStretch& stretch) {
    if (clock >= stretch.until) return false;
    const bool is_after = clock >= stretch.from.clock;
    const std::uint64_t ticks = is_after ? clock - stretch.from.clock : stretch.from.clock - clock;
    const std::uint64_t ns = rounded(static_cast<long double>(ticks) * stretch.ns_per_tick);
    real = is_after ? stretch.from.real_ns + ns
                    : stretch.from.real_ns - std::min(ns, stretch.from.real_ns);
    return true;
  });
  return real;
}

std::uint64_t ticks_to_ns(const Clocks& clocks, std::uint64_t ticks) {
  return rounded(static_cast<long double>(ticks) * kSecond / clocks.ticks_per_second());
}

std::uint64_t recording_start(const RecordingInfo& info) {
  return info.clocks.start.clock;
}

std::string wall_clock_text(std::uint64_t real_ns, int zone_seconds) {
  const std::uint64_t zone = static_cast<std::uint64_t>((zone_seconds % 86'400 + 86'400) * kSecond);
  const std::uint64_t ns = (real_ns % kDay + zone) % kDay;
  const auto seconds = static_cast<unsigned>(ns / kSecond);
  return fmt::format("{:02}:{:02}:{:02}.{:09}", seconds / 3600, seconds / 60 % 60, seconds % 60,
                     ns % kSecond);
}

Result<std::uint64_t> parse_duration(std::string_view text, double ticks_per_second) {
  static constexpr struct {
    std::string_view suffix;
    std::uint64_t ns;
    // "s" last, as the others end with it too.
  } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1'000'000}, {"s", kSecond}};
  constexpr std::string_view kCycles = "cycles";
  std::uint64_t cycles = 0;
  const bool named = text.ends_with(kCycles);
  const std::string_view bare = named ? text.substr(0, text.size() - kCycles.size()) : text;
  if (parse_number(bare, cycles)) return cycles;
  for (const auto& unit : units) {
    if (!text.ends_with(unit.suffix)) continue;
    long double ns = 0;
    if (!parse_decimal(text.substr(0, text.size() - unit.suffix.size()), unit.ns, ns)) break;
    return rounded(ns * ticks_per_second / kSecond);
  }
  return not_a_time(text, "or cycles (as 12000cycles)");
}

Result<std::uint64_t> parse_time(std::string_view text, const RecordingInfo& info,
                                 std::uint64_t last) {
  constexpr const char* kOthers = "cycles (as 12000cycles), or HH:MM:SS.frac";
  const Clocks& clocks = info.clocks;
  if (text.find(':') == std::string_view::npos) {
    const Result<std::uint64_t> since = parse_duration(text, clocks.ticks_per_second());
    if (!since) return not_a_time(text, kOthers);
    const std::uint64_t clock = recording_start(info) + *since;
    return clock < *since ? std::numeric_limits<std::uint64_t>::max() : clock;
  }
  std::int64_t of_day = 0;
  if (!parse_time_of_day(text, of_day)) return not_a_time(text, kOthers);
  const std::int64_t zone = clocks.zone_seconds * kSecond;
  const std::int64_t start = static_cast<std::int64_t>(clocks.start.real_ns) + zone;
  std::int64_t moment = start - start % kDay + of_day;
  // The first such time of day within the recording; if there is none, that of the day it began.
  const std::int64_t end = static_cast<std::int64_t>(clocks.real_ns(last)) + zone;
  if (moment < start && moment + kDay <= end) moment += kDay;
  return clock_at(clocks, moment - zone);
}

}  // namespace fkt
