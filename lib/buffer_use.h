// SPDX-License-Identifier: GPL-2.0-only
// How full the recording's own buffers were, from the pages' headers and from what the layer fkt
// tells of the drain (2005 report, figure 10).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lib/find.h"
#include "lib/scale.h"
#include "lib/trace.h"

namespace fkt {

// Numbers of pages at one moment. What is not known has no value: all but the first three without
// the layer fkt; free and allocated before the drain woke for the first time.
struct BufferState {
  std::uint64_t clock = 0;   // full stamp (ticks)
  std::uint64_t opened = 0;  // up to now, of the pages in the file
  std::uint64_t filled = 0;
  std::optional<std::uint64_t> submitted;  // up to now; none where the recorder fetched the pages
  std::optional<std::uint64_t> written;    // up to now; or handed on, where they were fetched
  std::optional<std::uint64_t> extra;      // added to the buffers, up to now
  std::optional<std::uint64_t> allocated;  // in all buffers
  std::optional<std::uint64_t> free;

  // How far the pages filled may rise before nothing is free.
  std::optional<std::uint64_t> available() const {
    return free ? std::optional<std::uint64_t>(opened + *free) : std::nullopt;
  }
};

using BufferSink = std::function<void(const BufferState&)>;

// Reads the trace once, and calls `sink` in time order for every page that was opened or filled and
// every step of the drain. Free and allocated pages are counted when the drain wakes, and followed
// from there to the next time. Of a slice, counts begin at the cut. Error (usage): the layer fkt
// tells nothing, the states hold what the headers say; the message says how to record it.
Status follow_buffers(const Trace& trace, const BufferSink& sink, const Reading& reading);

// The states at the cells' ends.
class BufferColumns {
 public:
  struct Cell {
    BufferState state;                    // at its end
    std::optional<std::uint64_t> lowest;  // free pages in it
  };
  explicit BufferColumns(const Scale& scale) : scale_(scale) { cells_.reserve(scale.cells); }

  // In time order.
  void add(const BufferState& state);
  // After the last one; then cells() has scale().cells of them.
  void finish();

  const Scale& scale() const { return scale_; }
  const std::vector<Cell>& cells() const { return cells_; }

 private:
  void close_cells(std::size_t upto);

  Scale scale_;
  Cell open_;
  std::vector<Cell> cells_;
};

}  // namespace fkt
