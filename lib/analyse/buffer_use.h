// SPDX-License-Identifier: GPL-2.0-only
// How full the recording's page buffers were, from the page headers and from the events that the
// layer fkt records of the drain.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lib/analyse/search_passes.h"
#include "lib/analyse/time_scale.h"
#include "lib/read/recording.h"

namespace fkt {

// Numbers of pages at one moment; unknown numbers have no value. Without the layer fkt only the
// first three are known; free and allocated are known from the drain's first wake-up on.
struct BufferState {
  std::uint64_t clock = 0;   // full stamp (ticks)
  std::uint64_t opened = 0;  // up to this moment, of the pages in the file
  std::uint64_t filled = 0;
  // Up to this moment; unknown where the recorder fetched the pages.
  std::optional<std::uint64_t> submitted;
  // Up to this moment; where the recorder fetched the pages: handed to it.
  std::optional<std::uint64_t> written;
  std::optional<std::uint64_t> extra;      // added to the buffers, up to this moment
  std::optional<std::uint64_t> allocated;  // in all buffers
  std::optional<std::uint64_t> free;

  // Number of filled pages at which no free page would be left.
  std::optional<std::uint64_t> available() const {
    return free ? std::optional<std::uint64_t>(opened + *free) : std::nullopt;
  }
};

using BufferSink = std::function<void(const BufferState&)>;

// Reads the recording once and calls `sink` in time order for every page that was opened or filled
// and every step of the drain. The event of the drain's wake-up says how many pages are free;
// between two wake-ups free and allocated are computed from the other events. In a slice the counts
// begin at the cut. Returns an error (usage) when the layer fkt was not recorded: the states then
// hold only what the page headers say, and the message says how to record it.
Status follow_buffers(const Recording& recording, const BufferSink& sink, const Reading& reading);

// The states at the ends of the cells of a time scale.
class BufferColumns {
 public:
  struct Cell {
    BufferState state;                    // at the end of the cell
    std::optional<std::uint64_t> lowest;  // lowest number of free pages in the cell
  };
  explicit BufferColumns(const TimeScale& scale) : scale_(scale) { cells_.reserve(scale.cells); }

  // Adds the next state; states come in time order.
  void add(const BufferState& state);
  // Call after the last add(); cells() then has scale().cells elements.
  void finish();

  const TimeScale& scale() const { return scale_; }
  const std::vector<Cell>& cells() const { return cells_; }

 private:
  void close_cells(std::size_t upto);

  TimeScale scale_;
  Cell open_;
  std::vector<Cell> cells_;
};

}  // namespace fkt
