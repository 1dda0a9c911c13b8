// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/time_format.h"

#include <algorithm>

namespace fkt {

std::optional<TimeUnit> TimeFormat::parse(std::string_view text) {
  if (text == "cycles") return TimeUnit::cycles;
  if (text == "ns") return TimeUnit::ns;
  if (text == "us") return TimeUnit::us;
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
    case TimeUnit::s:
      return "s";
  }
  return "";
}

std::string_view TimeFormat::title() const {
  return unit_ == TimeUnit::cycles ? "Cycles" : unit();
}

std::uint64_t TimeFormat::ns(std::uint64_t ticks) const {
  return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick_ + 0.5);
}

std::uint64_t TimeFormat::whole(std::uint64_t ticks) const {
  if (unit_ == TimeUnit::cycles) return ticks;
  const std::uint64_t one = unit_ == TimeUnit::ns   ? 1
                            : unit_ == TimeUnit::us ? 1000
                                                    : 1'000'000'000;
  return (ns(ticks) + one / 2) / one;
}

std::string_view TimeFormat::digits(Digits& room, std::uint64_t ticks) const {
  char* const end = room.data() + room.size();
  const auto text = [&](const char* begin) { return std::string_view(begin, end); };
  if (unit_ == TimeUnit::cycles) return text(put_digits(end, ticks));
  const std::uint64_t value = ns(ticks);
  if (unit_ == TimeUnit::ns) return text(put_digits(end, value));
  const std::uint64_t one = unit_ == TimeUnit::us ? 1000 : 1'000'000'000;
  // The times of a KFT log are whole us.
  if (unit_ == TimeUnit::us && ns_per_tick_ >= 1000) return text(put_digits(end, value / one));
  char* const point = end - (unit_ == TimeUnit::us ? 4 : 10);
  std::fill(point, end, '0');
  put_digits(end, value % one);
  *point = '.';
  return text(put_digits(point, value / one));
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
