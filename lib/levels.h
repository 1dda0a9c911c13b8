// SPDX-License-Identifier: GPL-2.0-only
// Levels: the lanes of a whole recording at many resolutions, so that any stretch is drawn from a
// number of cells that depends on the picture alone (levels of detail).
//
// A level cuts time into buckets of one width, each level's twice as wide as the one's before it.
// Slices narrower than a bucket are gathered per lane and depth in the bucket they begin in; wider
// ones stand for themselves on every level that they are wider than. Each level is made of the
// cells of the finer one. When all together take too much room, the finest level goes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "lib/lanes.h"
#include "lib/scratch.h"

namespace fkt {

class Levels : public FollowSink {
 public:
  static constexpr std::uint64_t kMostCells = 4 << 20;     // of 64 bytes, in a file
  static constexpr std::uint64_t kMostInMemory = 3 << 18;  // where there is none

  // Of [from, to) (ticks), from < to, in which there are about so many events. `tasks` is looked at
  // when lanes are asked for. At most `most` cells are kept.
  Levels(std::uint64_t from, std::uint64_t to, std::uint64_t events, const Tasks& tasks,
         std::uint64_t most = kMostCells);

  void slice(const Slice& slice) override;
  // After the last slice, and before the first question.
  void finish();

  // What touches the scale, in buckets as wide as its columns or up to twice as wide; wider where
  // the finest level is. How active a CPU was is roughly said; wake-ups are not.
  LanePicture lanes(const Scale& scale, const LaneWish& wish = {}) const;
  // Gives slices that are open at `clock` their ends, where a level has them for themselves.
  // These are taken out of `open`; what is left is narrower than finest_bucket().
  using OpenCells = std::map<std::tuple<std::uint32_t, std::uint8_t, std::uint64_t>, LaneCell*>;
  void complete(OpenCells& open, std::uint64_t clock) const;
  static std::tuple<std::uint32_t, std::uint8_t, std::uint64_t> open_key(bool of_cpu,
                                                                         std::uint32_t id,
                                                                         const LaneCell& cell) {
    return {of_cpu ? id | kOfCpu : id, cell.depth, cell.from};
  }
  // The width of the finest level's buckets (ticks).
  std::uint64_t finest_bucket() const { return levels_[finest_].width; }
  // The width of the buckets that lanes() takes for this scale (ticks).
  std::uint64_t bucket(const Scale& scale) const { return level_for(scale).width; }
  std::uint64_t cells() const { return cells_; }

 private:
  static constexpr std::uint64_t kFewest = 512;          // buckets of the coarsest level
  static constexpr std::uint64_t kEventsPerBucket = 64;  // on average, of the finest one
  static constexpr std::size_t kBlock = 256;             // cells
  static constexpr std::uint32_t kOfCpu = 1U << 31;

  struct Cell {
    LaneCell cell;
    std::uint32_t lane = 0;                     // task, or kOfCpu | number
    float longest = 0, ready = 0, blocked = 0;  // ticks
  };
  struct Extent {  // of the cells of a block
    std::uint64_t from = ~std::uint64_t{0}, to = 0;
  };
  struct Open {
    bool open = false;
    std::uint64_t bucket = 0;
    Gathered all;
  };
  struct Level {
    std::uint64_t width = 1;  // ticks
    std::uint64_t now = 0;    // the latest bucket that anything ended in
    Scratch<Cell> cells;
    std::vector<Extent> extents;
    std::unordered_map<std::uint64_t, Open> lanes;               // by lane and depth
    std::deque<std::pair<std::uint64_t, std::uint64_t>> opened;  // bucket and lane, oldest first
  };
  void feed(std::size_t level, std::uint64_t key, const Gathered& gathered);
  void flush(std::size_t level, std::uint64_t before);
  void close(std::size_t level, std::uint64_t key, Open& open);
  void keep(std::size_t level, std::uint64_t key, const Gathered& gathered);
  void forget_finest();
  const Level& level_for(const Scale& scale) const;
  template <class Use>
  static void each_cell(const Level& level, const Scale& scale, const Use& use);
  std::vector<bool> chosen_tasks(const Level& level, const Scale& scale, const LaneWish& wish,
                                 std::uint64_t& count) const;
  static LaneCell shown(const Cell& stored, const Scale& scale);
  std::uint64_t active(const Cell& stored, const LaneCell& cell) const;

  std::uint64_t from_;
  const Tasks& tasks_;
  std::uint64_t most_;
  std::uint64_t cells_ = 0;
  std::size_t finest_ = 0;  // the first level that is kept
  bool in_memory_ = false;
  std::vector<Level> levels_;
};

}  // namespace fkt
