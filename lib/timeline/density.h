// SPDX-License-Identifier: GPL-2.0-only
// Density: how many events were recorded at which time, per CPU and layer, for any stretch of a
// recording at any resolution.
//
// One pass over all pages, by several threads, counts the events per layer of each page and of the
// pieces that each page is cut into. A cell of a picture is then the sum of the pages and pieces
// inside it; only pieces that cross the edge of a cell are decoded again, at most one per cell and
// CPU. If these are too many, the events of such a piece are spread evenly over its time, which is
// then short compared to a cell; otherwise a picture is exact. Memory: a few bytes per page and
// piece; there are at most kMostPieces pieces, or one per page.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "lib/analyse/analysis.h"
#include "lib/analyse/time_scale.h"
#include "lib/read/recording.h"

namespace fkt {

struct DensityCells {
  TimeScale scale;
  std::vector<std::uint32_t> cpus;
  // Bit numbers of the layers that occur; empty: all layers in one sum.
  std::vector<unsigned> layers;
  std::vector<std::uint64_t> events;  // number of events [cpu][layer][cell]

  std::uint64_t at(std::size_t cpu, std::size_t layer, std::size_t cell) const {
    return events[(cpu * width() + layer) * scale.cells + cell];
  }
  std::size_t width() const { return layers.empty() ? 1 : layers.size(); }
};

// Computes the cells from the index alone, without reading pages: each page's events are spread
// evenly over its time, with all layers in one sum. pages: Recording::pages(), or a copy of them.
DensityCells density_from_index(std::span<const PageRef> pages, const TimeScale& scale);

// Called with the cells of one CPU: its position among the CPUs that have pages, its number, and
// the numbers of events [layer][cell].
using DensityTaker = std::function<void(std::size_t position, std::uint32_t cpu,
                                        std::span<const std::uint64_t> events)>;

// Lets other threads follow the progress of a long pass (done and total, in pages), and stop it.
struct PassControl {
  std::atomic<std::uint64_t> done{0}, total{0};
  std::atomic<bool> stop{false};
};

class Density {
 public:
  static constexpr std::size_t kMostPieces = 1 << 20;
  static constexpr std::uint64_t kMostDecoded = 4 << 20;  // words decoded for one picture

  // Reads nothing; `recording` must outlive this object.
  explicit Density(const Recording& recording);
  // Reads all pages with `threads` threads, as finish() does.
  Density(const Recording& recording, unsigned threads, PassControl& control) : Density(recording) {
    finish(threads, control);
  }

  // Counts a page that was read for another purpose (PageTaker), unless it was counted before. Any
  // number of threads may call it at once.
  void add(std::uint32_t number, const Result<Page>& page);
  // Reads the pages that were not added, with `threads` threads. Call it once, after add(); then
  // all else may be called. If control.stop was set, only a part of the pages is counted.
  void finish(unsigned threads, PassControl& control);

  // Computes the events in scale.from <= clock < scale.to and calls `take` for each CPU in
  // ascending order. May be called from several threads. The result is exact if no more than
  // `most_decoded` words must be decoded again for it.
  void each_cpu(const TimeScale& scale, const DensityTaker& take,
                std::uint64_t most_decoded = kMostDecoded) const;
  // As each_cpu(), with the cells of all CPUs in one result.
  DensityCells cells(const TimeScale& scale, std::uint64_t most_decoded = kMostDecoded) const;
  const std::vector<unsigned>& layers() const { return layers_; }
  // Number of values in a picture.
  std::size_t numbers(const TimeScale& scale) const {
    return cpus_.size() * layers_.size() * scale.cells;
  }
  // The gaps of all CPUs, sorted by CPU and time: those that the reader reports (event.h), and
  // those that were still open at the stop.
  const std::vector<Gap>& gaps() const { return gaps_; }
  // Pages that could not be read, or not to their end, in ascending order. page: position in the
  // recording's pages.
  struct Damage {
    std::uint32_t page = 0;
    Error error;
  };
  const std::vector<Damage>& damage() const { return damage_; }

 private:
  // Number of events in a piece. Only a page into which very many ends of calls go has pieces with
  // more; they are shown with kMostInPiece.
  using Count = std::uint16_t;
  static constexpr std::uint32_t kMostInPiece = std::numeric_limits<Count>::max();
  // The loss counts of a page; kept until all pages are read.
  struct Edge {
    bool readable = false, whole = false;
    bool lost_first = false;                  // the page begins with a LOST word
    std::uint64_t lost = 0, first_clock = 0;  // from the page's header
    std::uint64_t last_clock = 0;             // clock of the page's last event (ticks)
    std::uint64_t gap_total = 0, gap_from = 0, gap_to = 0;  // from the page's LOST word
    std::string fault;  // why the page is not readable, or not whole; empty: it is
  };
  // A part of a page that begins with an event.
  struct Piece {
    std::uint64_t clock = 0;  // clock of its first event (ticks)
    std::uint32_t word = 0;   // position in the page's words
  };
  void count_page(std::size_t index, const Page& page, Edge& edge);
  void find_gaps();
  // Removes the layers that have no event in the recording.
  void keep_layers_used();
  // The picture in progress, of one CPU after another.
  struct Picture {
    TimeScale scale;
    CellTable table;
    bool decode;                        // decode the pieces that cross an edge of a cell
    std::vector<std::uint64_t> events;  // [layer][cell]

    std::uint64_t& at(std::size_t layer, std::uint32_t cell) {
      return events[layer * scale.cells + cell];
    }
  };
  void add_page(std::size_t index, Picture& picture) const;
  // Adds a page that overlaps several cells, or lies partly outside the scale.
  void split_page(std::size_t index, Picture& picture) const;
  void decode_piece(const Page& page, const Piece& piece, std::size_t end, Picture& picture) const;
  void spread_piece(const Count* counts, std::uint64_t from, std::uint64_t to,
                    Picture& picture) const;

  const Recording& recording_;
  std::vector<std::uint32_t> cpus_;
  std::vector<std::vector<std::uint32_t>> pages_of_;  // by CPU: positions of its pages
  std::vector<unsigned> layers_;
  std::vector<std::uint8_t> slot_;     // by event id: position in layers_
  std::vector<std::uint32_t> counts_;  // [page][layer]
  std::size_t per_page_ = 1;           // pieces of a page
  std::uint32_t piece_words_ = 0;      // size of a piece of a page that is not split (words)
  std::vector<Piece> pieces_;          // [page][piece]; a piece without events equals the next one
  std::vector<Count> in_piece_;        // [page][piece][layer]
  std::vector<std::atomic<bool>> added_;  // by page
  std::vector<Edge> edges_;               // by page; empty after finish()
  std::vector<bool> unusable_;            // by page
  std::vector<Gap> gaps_;
  std::vector<Damage> damage_;
};

// Returns the gaps that overlap the scale, limited to it. Gaps of a CPU that touch the same cell
// are merged into one.
std::vector<Gap> gaps_in(const std::vector<Gap>& gaps, const TimeScale& scale);

}  // namespace fkt
