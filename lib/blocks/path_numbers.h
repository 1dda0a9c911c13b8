// SPDX-License-Identifier: GPL-2.0-only
// PathNumbers: the acyclic paths through a function, numbered as in "Efficient path profiling"
// (Ball and Larus, 1996), and the ways that have to be watched to know which path was taken.
//
// The ways that lead back are cut: a path ends with one, and another path begins at the block that
// it leads to. Of the other ways those of a spanning tree need not be watched, as many and as
// frequent ones as possible; the rest are the chords. Each watched way has a number to be added
// when it is taken: a path's numbers add up to its own number, from 0 to paths() - 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/base/result.h"
#include "lib/blocks/flow_graph.h"

namespace fkt {

// A way from one block to another, or out of the function.
struct PathWay {
  static constexpr std::uint32_t kOutside = FlowEdge::kOutside;
  std::uint32_t from = 0;
  std::uint32_t to = kOutside;
  // The instruction by which it can be watched, which can tell of one way alone; 0: it cannot be.
  std::uint64_t place = 0;
  bool is_rare = false;  // it is taken less often than others that leave the block
};

struct Path {
  std::uint32_t begin = 0;          // block
  std::vector<std::uint32_t> ways;  // the last one leads out of the function, or is cut
};

class PathNumbers {
 public:
  // A block from which more paths lead than this has further ways cut.
  static constexpr std::uint64_t kMostFromBlock = std::uint64_t{1} << 40;

  // Numbers the paths through blocks 0, the entry, to `blocks` - 1. Two blocks have at most one way
  // from one to the other, and a block has at most one out of the function. Error (usage): ways
  // that cannot be watched have to be.
  static Result<PathNumbers> of(std::uint32_t blocks, std::vector<PathWay> ways,
                                std::uint64_t most_from_block = kMostFromBlock);

  std::uint32_t blocks() const { return blocks_; }
  std::span<const PathWay> ways() const { return ways_; }
  std::uint64_t paths() const { return paths_; }
  bool is_cut(std::uint32_t way) const { return uses_[way].is_cut; }
  bool is_watched(std::uint32_t way) const { return uses_[way].is_watched; }
  // Returns the path with this number, which must be below paths().
  Path path(std::uint64_t number) const;

  // The sum of a path that begins at this block: the entry, or one that a cut way leads to.
  std::uint64_t sum_at(std::uint32_t block) const { return begins_[block]; }
  // What a watched way adds; if it is cut, it ends the path.
  std::uint64_t added_by(std::uint32_t way) const { return uses_[way].added; }

 private:
  class Builder;
  struct Use {
    bool is_reached = false, is_cut = false, is_watched = false;
    std::uint64_t value = 0;  // added to the path's number wherever it is watched
    std::uint64_t added = 0;  // modulo 2^64
  };
  // A path's first block, with the number of the first path from there.
  struct Begin {
    std::uint32_t block = 0;
    std::uint64_t value = 0;
  };

  std::uint32_t blocks_ = 0;
  std::uint64_t paths_ = 0;
  std::vector<PathWay> ways_;
  std::vector<Use> uses_;                        // by way
  std::vector<std::vector<std::uint32_t>> out_;  // ways, by block
  std::vector<Begin> first_;                     // ascending by value
  std::vector<std::uint64_t> begins_;            // by block
};

}  // namespace fkt
