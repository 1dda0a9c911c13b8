// SPDX-License-Identifier: GPL-2.0-only
// Lanes: what a picture of a stretch of time shows, a lane per CPU and per task, at the picture's
// resolution. Slices narrower than a column are combined into one cell per column, which says how
// many there were and which took longest. So the size of a lane depends on the picture, not on the
// recording.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "lib/analyse/time_scale.h"
#include "lib/timeline/state_tracker.h"

namespace fkt {

struct LaneCell {
  SliceKind kind = SliceKind::run;
  std::uint8_t depth = 0;
  bool begun = true, ended = true;
  std::uint32_t count = 1;         // number of slices in it; 1: a single slice with its own times
  std::uint32_t value = 0;         // of the longest slice; of states: the state with the most time
  TypeIndex in = kNoType;          // state: the system call around it
  std::uint32_t cpu = 0;           // CPU of the longest slice
  std::uint64_t from = 0, to = 0;  // ticks; a single slice may extend beyond the scale
  std::uint64_t busy = 0;          // sum of the slices' durations (ticks)
};

struct Lane {
  bool of_cpu = true;
  std::uint32_t id = 0;  // CPU number, or TaskIndex
  std::vector<LaneCell> cells;
  std::uint64_t active = 0;  // ticks that the task ran, or that the CPU was not idle
};

// Which tasks' lanes are wanted; the CPUs' lanes always are.
struct LaneFilter {
  std::uint64_t most = ~std::uint64_t{0};
  std::function<bool(TaskIndex)> wanted;  // empty: all tasks
};

struct LanePicture {
  // CPUs by number, then tasks: the most active first, of equally active ones those in a call
  // first.
  std::vector<Lane> lanes;
  std::uint64_t tasks = 0;  // number of wanted tasks, with those beyond the maximum
};

// Returns the cell of a single slice.
LaneCell lane_cell(const Slice& slice);
// Returns true for slices that belong to the lane of a CPU, false for those of a task.
constexpr bool of_cpu(SliceKind kind) {
  return kind == SliceKind::run || kind == SliceKind::interrupt;
}

// Combines narrow slices of one lane and depth into a cell.
struct Gathered {
  LaneCell cell;
  std::uint64_t longest = 0;  // duration of the slice that gave the cell its value (ticks)
  std::array<std::uint64_t, 4> states{};  // ticks, by TaskState

  Gathered() = default;
  explicit Gathered(const LaneCell& one);
  void add(const Gathered& later);
  // Returns the finished cell: the value of several states is the state with the most time.
  LaneCell closed() const;
};

// What the order of the lanes depends on.
struct LaneRank {
  bool of_cpu = true;
  std::uint32_t id = 0;
  bool calls = false;  // has cells of calls
  std::uint64_t active = 0;
};
// Returns true if the lane `one` is drawn above `other`: see LanePicture::lanes.
bool comes_before(const LaneRank& one, const LaneRank& other);

class Lanes : public StateObserver {
 public:
  static constexpr std::size_t kMostWakes = 2000;

  // tasks: tells the idle tasks, which get no lane.
  Lanes(const TimeScale& scale, const Tasks& tasks) : scale_(scale), tasks_(tasks) {}

  void slice(const Slice& slice) override;
  // Adds a finished cell of another picture. active: ticks that it adds to Lane::active.
  void put(bool of_cpu, std::uint32_t id, const LaneCell& cell, std::uint64_t active);
  void wake(const Wake& wake) override;

  // Returns the wanted lanes and leaves this object empty. Call once, after the last slice.
  LanePicture take(const LaneFilter& filter = {});
  // Wake-ups whose time from waking to running overlaps the scale; empty if there are more than
  // kMostWakes.
  const std::vector<Wake>& wakes() const { return wakes_; }
  std::uint64_t wake_count() const { return wake_count_; }

 private:
  struct Gathering {
    std::uint32_t column = 0;
    bool open = false;
    Gathered all;
  };
  struct Building {
    Lane lane;
    std::vector<Gathering> depths;
  };
  Building& building(bool of_cpu, std::uint32_t id);
  void add(Building& building, const LaneCell& cell);
  bool idle(TaskIndex task) const;
  static void close(Building& building, Gathering& gathering);
  static void finish(Building& building);

  TimeScale scale_;
  const Tasks& tasks_;
  std::unordered_map<std::uint64_t, Building> lanes_;
  std::vector<Wake> wakes_;
  std::uint64_t wake_count_ = 0;
};

}  // namespace fkt
