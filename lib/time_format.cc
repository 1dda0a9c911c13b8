// SPDX-License-Identifier: GPL-2.0-only
#include "lib/time_format.h"

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

void TimeFormat::put(Writer& out, std::uint64_t ticks) const {
  if (unit_ == TimeUnit::cycles) return out.number(ticks);
  const std::uint64_t value = ns(ticks);
  if (unit_ == TimeUnit::ns) return out.number(value);
  const std::uint64_t one = unit_ == TimeUnit::us ? 1000 : 1'000'000'000;
  out.number(value / one);
  if (unit_ == TimeUnit::us && ns_per_tick_ >= 1000) return;  // a KFT log knows no less
  out.put('.');
  std::uint64_t rest = value % one;
  for (std::uint64_t digit = one / 10; digit != 0; digit /= 10) {
    out.put(static_cast<char>('0' + rest / digit));
    rest %= digit;
  }
}

void TimeFormat::right(Writer& out, std::uint64_t ticks, std::size_t width) const {
  if (unit_ == TimeUnit::cycles) return out.right(ticks, width);
  Writer number;
  put(number, ticks);
  out.right(number.view(), width);
}

std::string TimeFormat::text(std::uint64_t ticks) const {
  Writer out;
  put(out, ticks);
  return std::string(out.view());
}

}  // namespace fkt
