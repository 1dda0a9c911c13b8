// SPDX-License-Identifier: GPL-2.0-only
// A stretch of time cut into equal cells: the columns of a picture.
#pragma once

#include <cstdint>

namespace fkt {

struct Scale {
  std::uint64_t from = 0, to = 1;  // ticks, from < to
  std::uint32_t cells = 1;

  // The cell of a moment in from <= clock < to.
  std::uint32_t cell(std::uint64_t clock) const {
    return static_cast<std::uint32_t>(static_cast<unsigned __int128>(clock - from) * cells /
                                      (to - from));
  }
  // Its first moment: cell(clock) == c exactly for begin(c) <= clock < begin(c + 1).
  std::uint64_t begin(std::uint32_t cell) const {
    const unsigned __int128 product = static_cast<unsigned __int128>(to - from) * cell;
    return from + static_cast<std::uint64_t>((product + cells - 1) / cells);
  }
};

}  // namespace fkt
