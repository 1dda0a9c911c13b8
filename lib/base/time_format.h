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

enum class TimeUnit { cycles, ns, us, s };

class TimeFormat {
 public:
  explicit TimeFormat(TimeUnit unit = TimeUnit::cycles, double ticks_per_second = 1e9)
      : unit_(unit), ns_per_tick_(1e9 / ticks_per_second) {}

  // Parses "ns", "us", "s" or "cycles"; returns nothing for other words.
  static std::optional<TimeUnit> parse(std::string_view text);

  std::string_view unit() const;   // "cycles"
  std::string_view title() const;  // for a column: "Cycles"
  // put() writes cycles and ns as integers, us with three decimals (none where a tick is at least a
  // us), s with nine.
  using Digits = std::array<char, kMostDigits + 10>;
  // Returns the text that put() writes, stored in `room`.
  std::string_view digits(Digits& room, std::uint64_t ticks) const;
  void put(TextWriter& out, std::uint64_t ticks) const;
  void right(TextWriter& out, std::uint64_t ticks, std::size_t width) const;
  std::string text(std::uint64_t ticks) const;
  std::uint64_t ns(std::uint64_t ticks) const;
  // Returns the time in the unit, rounded to an integer.
  std::uint64_t whole(std::uint64_t ticks) const;

 private:
  TimeUnit unit_;
  double ns_per_tick_;
};

}  // namespace fkt
