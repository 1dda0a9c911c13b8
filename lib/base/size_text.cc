// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/size_text.h"

#include <iterator>

#include <fmt/core.h>

namespace fkt {

std::string bytes_text(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  // 999.95 and above would be rounded to 1000.0.
  while (value >= 999.95 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace fkt
