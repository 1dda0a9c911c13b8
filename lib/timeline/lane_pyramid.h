// SPDX-License-Identifier: GPL-2.0-only
// LanePyramid: the lanes of a whole recording at several resolutions (levels of detail), so that
// any stretch of it is drawn from a number of cells that depends only on the picture.
//
// A level divides time into buckets of equal width, twice that of the next finer level. Slices
// narrower than a bucket are combined, per lane and depth, into a cell of the bucket in which they
// begin; wider slices are cells of their own. Each level is built from the cells of the next finer
// one. When all levels together take too much room, the finest one is dropped.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "lib/base/spill_vector.h"
#include "lib/timeline/lanes.h"

namespace fkt {

class LanePyramid final : public StateObserver {
 public:
  static constexpr std::uint64_t kMostCells = 4 << 20;     // of 64 bytes, in a temporary file
  static constexpr std::uint64_t kMostInMemory = 3 << 18;  // if there is no temporary file

  // Makes levels for [from, to) (ticks), from < to, with about `events` events. most: maximum
  // number of cells. late: how much later than others a slice may come (ticks). tasks: of the
  // recording; must outlive this object.
  LanePyramid(std::uint64_t from, std::uint64_t to, std::uint64_t events, std::uint64_t late,
              const Tasks& tasks, std::uint64_t most = kMostCells);
  LanePyramid(const LanePyramid&) = delete;
  LanePyramid& operator=(const LanePyramid&) = delete;

  void slice(const Slice& slice) override { add(PackedSlice::of(slice)); }
  void slices(const SliceGroup& group) override { add(PackedSlice::of(group)); }
  // Returns the buckets of the finest level.
  Buckets buckets() const override { return {from_, levels_[0].width}; }
  // Adds a slice or a group, as slice() and slices() do.
  void add(const PackedSlice& slice) {
    if (!adds_to_open(slice)) feed(slice);
  }
  bool wants_events() const override { return false; }
  // Call after the last slice, before lanes() and complete().
  void finish();

  // Returns what overlaps the scale, from cells whose buckets are as wide as its columns, or up to
  // twice as wide; wider still if finer levels were dropped. Lane::active of CPUs is approximate,
  // and wake-ups are not included.
  LanePicture lanes(const TimeScale& scale, const LaneFilter& filter = {}) const;
  // Sets the end of slices that are open at `clock` (ticks), as far as a level has them as single
  // cells, and removes these from `open`. The slices that are left are narrower than
  // finest_bucket().
  using OpenCells = std::map<std::tuple<std::uint32_t, std::uint8_t, std::uint64_t>, LaneCell*>;
  void complete(OpenCells& open, std::uint64_t clock) const;
  static OpenCells::key_type open_key(LaneId of, const LaneCell& cell) {
    return {of.packed(), cell.depth, cell.from};
  }
  // Width of the finest level's buckets (ticks).
  std::uint64_t finest_bucket() const { return levels_[finest_].width; }
  // Width of the buckets that lanes() uses for this scale (ticks).
  std::uint64_t bucket(const TimeScale& scale) const { return level_for(scale).width; }
  // Number of cells on all levels.
  std::uint64_t cells() const { return cells_; }

 private:
  static constexpr std::uint64_t kFewest = 512;          // number of buckets of the coarsest level
  static constexpr std::uint64_t kEventsPerBucket = 64;  // average in the finest level
  static constexpr std::size_t kBlock = 256;             // number of cells in a block

  struct Cell {
    LaneCell cell;
    std::uint32_t lane = 0;                     // LaneId::packed()
    float longest = 0, ready = 0, blocked = 0;  // ticks
  };
  struct Extent {  // of a block's cells
    std::uint64_t from = ~std::uint64_t{0}, to = 0;
  };
  struct Open {
    bool open = false;
    std::uint64_t bucket = 0;  // where it begins (ticks)
    Gathered all;
  };
  // Finds the open cells of a lane. Most slices belong to few lanes, which are found without the
  // hash table.
  class OpenLanes {
   public:
    Open& operator[](std::uint64_t key) {
      auto& [found, open] = recent_[key * kSpread >> kShift];
      if (open == nullptr || found != key) {
        found = key;
        open = &lanes_[key];  // stays in its place until it is erased
      }
      return *open;
    }
    // Same as operator[], but returns nullptr if the hash table would be needed.
    Open* recent(std::uint64_t key) {
      const auto& [found, open] = recent_[key * kSpread >> kShift];
      return found == key ? open : nullptr;
    }
    Open* find(std::uint64_t key) {
      const auto found = lanes_.find(key);
      return found == lanes_.end() ? nullptr : &found->second;
    }
    std::size_t size() const { return lanes_.size(); }
    void forget_closed() {
      recent_ = {};
      std::erase_if(lanes_, [](const auto& lane) { return !lane.second.open; });
    }

   private:
    static constexpr unsigned kShift = 55;                        // leaves the bits of an index
    static constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
    std::unordered_map<std::uint64_t, Open> lanes_;               // by lane and depth
    std::array<std::pair<std::uint64_t, Open*>, 1 << (64 - kShift)> recent_{};
  };
  struct Level {
    std::uint64_t width = 1;  // ticks
    std::uint64_t now = 0;    // begin of the latest bucket in which a slice ended (ticks)
    SpillVector<Cell> cells{};
    std::vector<Extent> extents{};
    OpenLanes lanes{};
    // Begin of the bucket (ticks) and key of open cells, oldest first.
    std::deque<std::pair<std::uint64_t, std::uint64_t>> opened{};
  };
  std::uint64_t bucket_of(const Level& level, std::uint64_t clock) const {
    return clock <= from_ ? from_ : clock - (clock - from_) % level.width;
  }
  static std::uint64_t key_of(const PackedSlice& slice) {
    return std::uint64_t{slice.depth} << 32 | lane_of(slice).packed();
  }
  // Fast path of feed(): adds a narrow slice to the open cell of its bucket. Returns false, and
  // does nothing, if there is none or the slice is wide.
  bool adds_to_open(const PackedSlice& slice) {
    Level& level = *finest_level_;
    const bool flushes = slice.to > level.now && slice.to - level.now >= level.width;
    if (flushes || slice.longest >= level.width || slice.from < from_) return false;
    Open* const open = level.lanes.recent(key_of(slice));
    if (open == nullptr || !open->open || slice.from - open->bucket >= level.width) return false;
    open->all.add(slice);
    return true;
  }
  void feed(const PackedSlice& slice);
  // Part: a PackedSlice, or a Gathered.
  template <class Part>
  void feed(std::size_t level, std::uint64_t key, const Part& part);
  void flush(std::size_t level, std::uint64_t before);
  void close(std::size_t level, std::uint64_t key, Open& open);
  void keep(std::size_t level, std::uint64_t key, const Gathered& gathered);
  void forget_finest();
  const Level& level_for(const TimeScale& scale) const;
  template <class Use>
  static void each_cell(const Level& level, const TimeScale& scale, const Use& use);
  std::vector<bool> chosen_tasks(const Level& level, const TimeScale& scale,
                                 const LaneFilter& filter, std::uint64_t& count) const;
  static LaneCell shown(const Cell& stored, const TimeScale& scale);
  std::uint64_t active(const Cell& stored, const LaneCell& cell) const;

  std::uint64_t from_;
  std::uint64_t late_;  // ticks
  const Tasks& tasks_;
  std::uint64_t most_;
  std::uint64_t cells_ = 0;
  std::size_t finest_ = 0;         // number of the finest level that is kept
  Level* finest_level_ = nullptr;  // that level
  bool in_memory_ = false;
  std::vector<Level> levels_;
};

}  // namespace fkt
