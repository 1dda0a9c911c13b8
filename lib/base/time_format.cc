// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/time_format.h"

#include <algorithm>

namespace fkt {
namespace {

// Of ns to s: how many ns the unit has, and how many digits of it stand behind the point.
std::uint64_t ns_per_unit(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::us:
      return 1000;
    case TimeUnit::ms:
      return 1'000'000;
    case TimeUnit::s:
      return 1'000'000'000;
    default:
      return 1;
  }
}

int decimals(TimeUnit unit) {
  return unit == TimeUnit::us ? 3 : unit == TimeUnit::ms ? 6 : 9;
}

}  // namespace

std::optional<TimeUnit> TimeFormat::parse(std::string_view text) {
  if (text == "cycles") return TimeUnit::cycles;
  if (text == "ns") return TimeUnit::ns;
  if (text == "us") return TimeUnit::us;
  if (text == "ms") return TimeUnit::ms;
  if (text == "s") return TimeUnit::s;
  return std::nullopt;
}

std::string_view TimeFormat::unit() const {
  switch (unit_) {
    case TimeUnit::cycles:
      return "cycles";
    case TimeUnit::ns:
      return "ns";
    case TimeUnit::us:
      return "us";
    case TimeUnit::ms:
      return "ms";
    case TimeUnit::s:
      return "s";
    case TimeUnit::readable:
      break;
  }
  return "";
}

std::string_view TimeFormat::title() const {
  if (unit_ == TimeUnit::readable) return "Time";
  return unit_ == TimeUnit::cycles ? "Cycles" : unit();
}

std::uint64_t TimeFormat::ns(std::uint64_t ticks) const {
  return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick_ + 0.5);
}

TimeFormat TimeFormat::of_moments() const {
  TimeFormat moments = *this;
  if (unit_ == TimeUnit::readable) moments.unit_ = TimeUnit::s;
  return moments;
}

std::uint64_t TimeFormat::whole(std::uint64_t ticks) const {
  if (unit_ == TimeUnit::cycles) return ticks;
  const std::uint64_t one = ns_per_unit(unit_);
  return (ns(ticks) + one / 2) / one;
}

std::string_view TimeFormat::digits(Digits& room, std::uint64_t ticks) const {
  char* const end = room.data() + room.size();
  const auto text = [&](const char* begin) { return std::string_view(begin, end); };
  if (unit_ == TimeUnit::cycles) return text(put_digits(end, ticks));
  const std::uint64_t value = ns(ticks);
  if (unit_ == TimeUnit::ns) return text(put_digits(end, value));
  if (unit_ == TimeUnit::readable) return readable(room, value);
  const std::uint64_t one = ns_per_unit(unit_);
  // The times of a KFT log are whole us.
  if (unit_ == TimeUnit::us && ns_per_tick_ >= 1000) return text(put_digits(end, value / one));
  char* const point = end - decimals(unit_) - 1;
  std::fill(point, end, '0');
  put_digits(end, value % one);
  *point = '.';
  return text(put_digits(point, value / one));
}

// "999 ns", "1.00 us", "12.3 ms", "123 s", "1234 s".
std::string_view TimeFormat::readable(Digits& room, std::uint64_t ns) const {
  static constexpr std::string_view kUnits[] = {" ns", " us", " ms", " s"};
  std::size_t unit = 0;
  std::uint64_t one = 1;
  // A value that would be rounded to 1000 is written in the next unit.
  while (unit + 1 < std::size(kUnits) && (ns + one / 2) / one >= 1000) {
    one *= 1000;
    unit++;
  }
  std::uint64_t places = 1;  // of the digits behind the point: 1, 10 or 100
  while (places < 100 && places < one && (ns * places * 10 + one / 2) / one < 1000) places *= 10;
  const std::uint64_t rounded = (ns * places + one / 2) / one;
  char* const end = room.data() + room.size();
  char* at = end - kUnits[unit].size();
  std::ranges::copy(kUnits[unit], at);
  if (places > 1) {
    char* const point = at - (places == 100 ? 3 : 2);
    std::fill(point, at, '0');
    put_digits(at, rounded % places);
    *point = '.';
    at = point;
  }
  at = put_digits(at, rounded / places);
  return {at, end};
}

void TimeFormat::put(TextWriter& out, std::uint64_t ticks) const {
  Digits room;
  out.put(digits(room, ticks));
}

void TimeFormat::right(TextWriter& out, std::uint64_t ticks, std::size_t width) const {
  Digits room;
  out.right(digits(room, ticks), width);
}

std::string TimeFormat::text(std::uint64_t ticks) const {
  TextWriter out;
  put(out, ticks);
  return std::string(out.view());
}

}  // namespace fkt
