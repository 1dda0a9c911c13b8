// SPDX-License-Identifier: GPL-2.0-only
// Density: how much was recorded when, per CPU and layer, for any stretch of a recording at any
// width (2005 report, figure 9).
//
// One pass over all pages, by several threads, counts each page's events per layer, and those of
// the pieces it is cut into. A picture's cell is then the sum of the pages and pieces that lie in
// it; only pieces that cross a cell's edge are decoded again. So a picture costs at most as many
// pieces as it has cells per CPU. Where that is still too much the events of such a piece are
// spread evenly over its time, as narrow as it is beside a cell then; all other pictures are exact.
// What is kept is a few bytes per page and piece, and there are at most kMostPieces or a piece per
// page.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/analysis.h"
#include "lib/scale.h"
#include "lib/trace.h"

namespace fkt {

struct DensityCells {
  Scale scale;
  std::vector<std::uint32_t> cpus;
  std::vector<unsigned> layers;  // bit numbers, of those that occur; empty: of all in one
  struct Amount {
    std::uint64_t events = 0;
    std::uint64_t words = 0;  // of 8 bytes, that these events take
  };
  std::vector<Amount> amounts;  // [cpu][layer][cell]

  const Amount& at(std::size_t cpu, std::size_t layer, std::size_t cell) const {
    return amounts[(cpu * width() + layer) * scale.cells + cell];
  }
  std::size_t width() const { return layers.empty() ? 1 : layers.size(); }
};

// From the index alone, at once: each page's events spread evenly over its time, all layers in one.
DensityCells density_from_index(const Trace& trace, const Scale& scale);

// A CPU's cells: its position among those that have pages, its number, the amounts [layer][cell].
using DensityTaker = std::function<void(std::size_t position, std::uint32_t cpu,
                                        std::span<const DensityCells::Amount> amounts)>;

// What somebody else may watch and end while a long pass runs.
struct PassControl {
  std::atomic<std::uint64_t> done{0}, total{0};
  std::atomic<bool> stop{false};
};

class Density {
 public:
  static constexpr std::size_t kMostPieces = 1 << 20;
  static constexpr std::uint64_t kMostDecoded = 4 << 20;  // words, for one picture

  // Reads all pages with `threads` threads; `trace` must outlive it. After control.stop its counts
  // are of a part only.
  Density(const Trace& trace, unsigned threads, PassControl& control);

  // Events in scale.from <= clock < scale.to, CPU by CPU in the order of their numbers. Any number
  // of threads may ask. At most so many words are decoded again, or everything is exact.
  void each_cpu(const Scale& scale, const DensityTaker& take,
                std::uint64_t most_decoded = kMostDecoded) const;
  // The same at once.
  DensityCells cells(const Scale& scale, std::uint64_t most_decoded = kMostDecoded) const;
  const std::vector<unsigned>& layers() const { return layers_; }
  // How many numbers a picture has.
  std::size_t numbers(const Scale& scale) const {
    return 2 * cpus_.size() * layers_.size() * scale.cells;
  }
  // Where events of a CPU are missing, by CPU, then time; as the reader's own gaps (event.h), and
  // one that never closed.
  const std::vector<Gap>& gaps() const { return gaps_; }
  // Pages that could not be read, or not to their end: positions in the trace's pages, ascending.
  struct Damage {
    std::uint32_t page = 0;
    Error error;
  };
  const std::vector<Damage>& damage() const { return damage_; }

 private:
  struct Counts {
    std::uint16_t events = 0, words = 0;  // a page of 64 KiB has at most 8192 words
  };
  // What a page says of losses, kept until all pages are read.
  struct Edge {
    bool readable = false, whole = false;
    bool lost_first = false;                                // begins with a LOST word
    std::uint64_t lost = 0, first_clock = 0;                // the header's
    std::uint64_t last_clock = 0;                           // of its last event
    std::uint64_t gap_total = 0, gap_from = 0, gap_to = 0;  // of its LOST word
    std::string fault;                                      // why not readable, or not whole
  };
  // Part of a page, from an event on.
  struct Piece {
    std::uint64_t clock = 0;  // of its first event (ticks)
    std::uint32_t word = 0;   // in the page's words
  };
  void read_page(std::size_t index, Edge& edge);
  void find_gaps(const std::vector<Edge>& edges);
  // Forgets the layers that no event of the recording is of.
  void keep_layers_used();
  // A picture being made, of one CPU after another.
  struct Picture {
    Scale scale;
    CellTable table;
    bool decode;                                // pieces that cross an edge, to be exact
    std::vector<DensityCells::Amount> amounts;  // [layer][cell]

    DensityCells::Amount& at(std::size_t layer, std::uint32_t cell) {
      return amounts[layer * scale.cells + cell];
    }
  };
  void add_page(std::size_t index, Picture& picture) const;
  // A page that lies in more than one cell, or partly outside.
  void split_page(std::size_t index, Picture& picture) const;
  void decode_piece(const Page& page, const Piece& piece, std::size_t end, Picture& picture) const;
  void spread_piece(const Counts* counts, std::uint64_t from, std::uint64_t to,
                    Picture& picture) const;

  const Trace& trace_;
  std::vector<std::uint32_t> cpus_;
  std::vector<std::vector<std::uint32_t>> pages_of_;  // by CPU: which pages are its own
  std::vector<unsigned> layers_;
  std::vector<std::uint8_t> slot_;  // by event id: position in layers_
  std::vector<Counts> counts_;      // [page][layer]
  std::size_t per_page_ = 1;        // pieces
  std::uint32_t piece_words_ = 0;   // ... of so many words, roughly
  std::vector<Piece> pieces_;       // [page][piece]; one without an event has the next one's place
  std::vector<Counts> in_piece_;    // [page][piece][layer]
  std::vector<bool> unusable_;      // by page
  std::vector<Gap> gaps_;
  std::vector<Damage> damage_;
};

// The part of a CPU's time in [from, to) in which its events are missing, as pieces of a scale's
// cells: gaps that touch one another's cells are one.
std::vector<Gap> gaps_in(const std::vector<Gap>& gaps, const Scale& scale);

}  // namespace fkt
