// SPDX-License-Identifier: GPL-2.0-only
// Lanes: the contents of a picture of an interval of time: a lane per CPU, per task and per type of
// asynchronous spans ("request vda"), at the picture's resolution. Slices narrower than a column
// are combined into one cell per column, which says how many there were and which took longest. So
// the size of a lane depends on the picture, not on the recording.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "lib/analyse/time_scale.h"
#include "lib/timeline/packed_slice.h"
#include "lib/timeline/slice.h"

namespace fkt {

enum class LaneKind : std::uint8_t { cpu, async, task };  // in the order in which they are drawn

// Which lane: a CPU's number, a TypeIndex or a TaskIndex, below 2^30.
struct LaneId {
  LaneKind kind = LaneKind::cpu;
  std::uint32_t id = 0;

  std::uint32_t packed() const { return static_cast<std::uint32_t>(kind) << 30 | id; }
  static LaneId unpacked(std::uint32_t packed) {
    return {static_cast<LaneKind>(packed >> 30), packed & ((1U << 30) - 1)};
  }
  constexpr auto operator<=>(const LaneId&) const = default;
};

struct LaneCell {
  SliceKind kind = SliceKind::run;
  std::uint8_t depth = 0;
  bool begun = true, ended = true;
  std::uint32_t count = 1;  // number of slices in it; 1: a single slice with its own times
  // Of the longest slice; of states: the state with the most time; of asynchronous spans: the task.
  std::uint32_t value = 0;
  TypeIndex in = kNoType;          // state: the system call around it
  std::uint32_t cpu = 0;           // CPU of the longest slice
  std::uint64_t from = 0, to = 0;  // ticks; a single slice may extend beyond the scale
  std::uint64_t busy = 0;          // sum of the slices' durations (ticks)
};

struct Lane {
  LaneId of;
  std::vector<LaneCell> cells;
  std::uint64_t active = 0;  // ticks that the task ran, or that the CPU was not idle
};

// Which tasks' lanes are wanted; all others always are.
struct LaneFilter {
  std::uint64_t most = ~std::uint64_t{0};
  std::function<bool(TaskIndex)> wanted{};  // empty: all tasks
  std::function<bool(TaskIndex)> always{};  // tasks beyond `most`, wanted or not; empty: none

  bool has(TaskIndex task) const { return !wanted || wanted(task) || is_always(task); }
  bool is_always(TaskIndex task) const { return always && always(task); }
};

struct LanePicture {
  // CPUs by number, asynchronous spans, then tasks: the most active first, of equally active ones
  // those in a call first.
  std::vector<Lane> lanes;
  std::uint64_t tasks = 0;  // number of wanted tasks, with those beyond the maximum
};

// Returns the cell of a single slice, or of a group.
LaneCell lane_cell(const PackedSlice& slice);
inline LaneCell lane_cell(const Slice& slice) {
  return lane_cell(PackedSlice::of(slice));
}
// Returns the lane to which the slice belongs.
// AnySlice is Slice or PackedSlice.
template <class AnySlice>
constexpr LaneId lane_of(const AnySlice& slice) {
  if (slice.kind == SliceKind::async) return {LaneKind::async, slice.value};
  const bool of_task = slice.kind == SliceKind::state || slice.kind == SliceKind::call;
  return of_task ? LaneId{LaneKind::task, slice.task} : LaneId{LaneKind::cpu, slice.cpu};
}

// Combines narrow slices of one lane and depth into a cell.
struct Gathered {
  LaneCell cell;
  std::uint64_t longest = 0;  // duration of the slice that gave the cell its value (ticks)
  std::array<std::uint64_t, 4> states{};  // ticks, by TaskState

  Gathered() = default;
  explicit Gathered(const LaneCell& one);
  explicit Gathered(const PackedSlice& one);
  void add(const LaneCell& one);
  // Same as add(Gathered(one)), without a temporary.
  void add(const PackedSlice& one) {
    if (one.kind == SliceKind::state) states[one.value & 3] += one.busy;
    cell.count += one.count;
    cell.to = std::max(cell.to, one.to);
    cell.busy += one.busy;
    if (one.longest <= longest) return;
    longest = one.longest;
    cell.value = one.kind == SliceKind::async ? one.task : one.value;
    cell.in = one.in;
    cell.cpu = one.cpu;
  }
  // Adds a cell of the same lane. Cells must be added in the order of their begins.
  void add(const Gathered& later);
  // Returns the finished cell. If it combines several states, its value is the one with most time.
  LaneCell closed() const;

 private:
  void add(const LaneCell& later, std::uint64_t longest_in);
};

// What comes_before() compares; active: as Lane::active (ticks).
struct LaneRank {
  LaneId of;
  bool calls = false;  // has cells of calls
  std::uint64_t active = 0;
};
// Returns true if the lane `one` is drawn above `other`: see LanePicture::lanes.
bool comes_before(const LaneRank& one, const LaneRank& other);

class Lanes : public StateObserver {
 public:
  static constexpr std::size_t kMostWakes = 2000;

  // scale: the picture's interval and columns. tasks: of the recording; must outlive this object;
  // idle tasks get no lane.
  Lanes(const TimeScale& scale, const Tasks& tasks, std::size_t most_wakes = kMostWakes)
      : scale_(scale), tasks_(tasks), most_wakes_(most_wakes) {}

  void slice(const Slice& slice) override;
  // Adds a finished cell of another picture to the end of the lane. active: ticks that it adds to
  // Lane::active.
  void put(LaneId of, const LaneCell& cell, std::uint64_t active);
  void wake(const Wake& wake) override;

  // Returns the wanted lanes and leaves this object empty. Call it once, after the last slice.
  LanePicture take(const LaneFilter& filter = {});
  // Return the wake-ups whose time from waking to running overlaps the scale, none if there are
  // more than most_wakes; and the number of them all.
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
  Building& building(LaneId of);
  void add(Building& building, const LaneCell& cell);
  bool idle(TaskIndex task) const;
  bool is_shown(LaneId of) const { return of.kind != LaneKind::task || !idle(of.id); }
  static void close(Building& building, Gathering& gathering);
  static void finish(Building& building);

  TimeScale scale_;
  const Tasks& tasks_;
  std::size_t most_wakes_;
  std::unordered_map<std::uint32_t, Building> lanes_;  // by LaneId::packed()
  std::vector<Wake> wakes_;
  std::uint64_t wake_count_ = 0;
};

}  // namespace fkt
