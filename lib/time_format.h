// SPDX-License-Identifier: GPL-2.0-only
// Ticks in the unit that the user chose.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/writer.h"

namespace fkt {

enum class TimeUnit { cycles, ns, us, s };

class TimeFormat {
 public:
  explicit TimeFormat(TimeUnit unit = TimeUnit::cycles, double ticks_per_second = 1e9)
      : unit_(unit), ns_per_tick_(1e9 / ticks_per_second) {}

  // "ns", "us", "s", "cycles"; nothing for other words.
  static std::optional<TimeUnit> parse(std::string_view text);

  std::string_view unit() const;   // "cycles"
  std::string_view title() const;  // of a column: "Cycles"
  // Cycles and ns as whole numbers, us with three decimals (with none where a tick is a whole us),
  // s with nine.
  using Digits = std::array<char, kMostDigits + 10>;
  // As put() writes it, in `room`.
  std::string_view digits(Digits& room, std::uint64_t ticks) const;
  void put(Writer& out, std::uint64_t ticks) const;
  void right(Writer& out, std::uint64_t ticks, std::size_t width) const;
  std::string text(std::uint64_t ticks) const;
  std::uint64_t ns(std::uint64_t ticks) const;
  // In the unit, rounded to whole ones.
  std::uint64_t whole(std::uint64_t ticks) const;

 private:
  TimeUnit unit_;
  double ns_per_tick_;
};

}  // namespace fkt
