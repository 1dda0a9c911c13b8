// SPDX-License-Identifier: GPL-2.0-only
// Writes ticks in the unit that the user chose.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/text_writer.h"

namespace fkt {

// readable: each duration in the unit that suits it, as "1.23 ms"; moments in s.
enum class TimeUnit { cycles, ns, us, ms, s, readable };

class TimeFormat {
 public:
  explicit TimeFormat(TimeUnit unit = TimeUnit::cycles, double ticks_per_second = 1e9)
      : unit_(unit), ns_per_tick_(1e9 / ticks_per_second) {}

  // Parses "ns", "us", "ms", "s" or "cycles"; returns nothing for other words.
  static std::optional<TimeUnit> parse(std::string_view text);

  // The format of moments that belongs to this one of durations: it differs if that is readable.
  TimeFormat of_moments() const;

  std::string_view unit() const;   // "cycles"; readable: ""
  std::string_view title() const;  // for a column: "Cycles"
  // put() writes cycles and ns as integers, us with three decimals (none where a tick is at least a
  // us), ms with six, s with nine; readable with three digits that count and the unit.
  using Digits = std::array<char, kMostDigits + 10>;
  // Returns the text that put() writes, stored in `room`.
  std::string_view digits(Digits& room, std::uint64_t ticks) const;
  void put(TextWriter& out, std::uint64_t ticks) const;
  void right(TextWriter& out, std::uint64_t ticks, std::size_t width) const;
  std::string text(std::uint64_t ticks) const;
  std::uint64_t ns(std::uint64_t ticks) const;
  // Returns the ticks of the unit of which round times are multiples: a cycle, or a ns.
  double ticks_of_round() const { return unit_ == TimeUnit::cycles ? 1 : 1 / ns_per_tick_; }
  // Returns the time in the unit, rounded to an integer. Not for readable times.
  std::uint64_t whole(std::uint64_t ticks) const;

 private:
  std::string_view readable(Digits& room, std::uint64_t ns) const;

  TimeUnit unit_;
  double ns_per_tick_;
};

}  // namespace fkt
