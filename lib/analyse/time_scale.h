// SPDX-License-Identifier: GPL-2.0-only
// An interval of time divided into equal cells: the columns of a picture.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fkt {

struct TimeScale {
  std::uint64_t from = 0, to = 1;  // ticks, from < to
  std::uint32_t cells = 1;

  // Returns the cell of `clock`, from <= clock < to (ticks).
  std::uint32_t cell(std::uint64_t clock) const {
    return static_cast<std::uint32_t>(static_cast<unsigned __int128>(clock - from) * cells /
                                      (to - from));
  }
  // Returns the cell's first tick: cell(clock) == c exactly for begin(c) <= clock < begin(c + 1).
  std::uint64_t begin(std::uint32_t cell) const {
    const unsigned __int128 product = static_cast<unsigned __int128>(to - from) * cell;
    return from + static_cast<std::uint64_t>((product + cells - 1) / cells);
  }
};

// The cells of a TimeScale, found without a division: for pictures that look up millions of times.
class CellTable {
 public:
  explicit CellTable(const TimeScale& scale)
      : from_(scale.from),
        per_tick_(static_cast<double>(scale.cells) / static_cast<double>(scale.to - scale.from)) {
    begins_.reserve(scale.cells + 1);
    for (std::uint32_t cell = 0; cell <= scale.cells; cell++) begins_.push_back(scale.begin(cell));
  }

  std::uint32_t cell(std::uint64_t clock) const {
    // Floating point may be off by one cell.
    auto cell = static_cast<std::size_t>(static_cast<double>(clock - from_) * per_tick_);
    cell = std::min(cell, begins_.size() - 2);
    while (clock < begins_[cell]) cell--;
    while (clock >= begins_[cell + 1]) cell++;
    return static_cast<std::uint32_t>(cell);
  }
  std::uint64_t begin(std::uint32_t cell) const { return begins_[cell]; }

 private:
  std::uint64_t from_;
  double per_tick_;
  std::vector<std::uint64_t> begins_;  // of each cell, and the end
};

}  // namespace fkt
