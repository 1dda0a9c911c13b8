// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_instrument/counts.h"

#include <fmt/core.h>

#include "lib/base/bytes.h"

namespace fkt::cli {
namespace {

std::string row(const std::string (&cells)[5], std::string_view text) {
  return fmt::format("{:>3} {:>15} {:>15} {:>12} {:>7}  {}\n", cells[0], cells[1], cells[2],
                     cells[3], cells[4], text);
}

}  // namespace

std::string counts_table(std::string_view lines) {
  std::string table = row({"N", "KEPT", "DROPPED", "MISSED", "PLACES"}, "INSTRUMENT");
  while (!lines.empty()) {
    std::string_view rest = take_until(lines, '\n');
    std::string cells[5];
    for (std::string& cell : cells) cell = take_until(rest, '\t');
    if (cells[4] == "0") cells[4] = "removed";
    table += row(cells, rest);
  }
  return table;
}

}  // namespace fkt::cli
