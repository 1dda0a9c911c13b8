// SPDX-License-Identifier: GPL-2.0-only
// Lanes: what is drawn below each other for a stretch of time, a lane per CPU and per task, at a
// picture's resolution. Slices narrower than a column become one cell per column, which says how
// many there were and which took longest; so a lane's size depends on the picture, not on the
// recording.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "lib/follow.h"
#include "lib/scale.h"

namespace fkt {

struct LaneCell {
  SliceKind kind = SliceKind::run;
  std::uint8_t depth = 0;
  bool begun = true, ended = true;
  std::uint32_t count = 1;         // slices in it; 1: it is one, with its own times
  std::uint32_t value = 0;         // of the longest; of a state: of the one with most time
  TypeIndex in = kNoType;          // state: the system call around it
  std::uint32_t cpu = 0;           // where it ran
  std::uint64_t from = 0, to = 0;  // ticks; one slice may reach beyond the scale
  std::uint64_t busy = 0;          // ticks, the sum of the slices
};

struct Lane {
  bool of_cpu = true;
  std::uint32_t id = 0;  // CPU number, or TaskIndex
  std::vector<LaneCell> cells;
  std::uint64_t active = 0;  // ticks: tasks ran or were in calls, CPUs were not idle
};

// Which tasks' lanes are wanted; those of CPUs always are.
struct LaneWish {
  std::uint64_t most = ~std::uint64_t{0};
  std::function<bool(TaskIndex)> wanted;  // nothing: all
};

struct LanePicture {
  // CPUs by number, then tasks, the most active first, then those in a call.
  std::vector<Lane> lanes;
  std::uint64_t tasks = 0;  // that are wanted, with those beyond the most
};

LaneCell lane_cell(const Slice& slice);
constexpr bool of_cpu(SliceKind kind) {
  return kind == SliceKind::run || kind == SliceKind::interrupt;
}

// A cell that narrow slices of one lane and depth are being gathered in.
struct Gathered {
  LaneCell cell;
  std::uint64_t longest = 0;              // ticks, of the slice whose value the cell has
  std::array<std::uint64_t, 4> states{};  // ticks, by TaskState

  Gathered() = default;
  explicit Gathered(const LaneCell& one);
  void add(const Gathered& later);
  // A state's value is then the one with most time.
  LaneCell closed() const;
};

// What decides on the order of lanes.
struct LaneRank {
  bool of_cpu = true;
  std::uint32_t id = 0;
  bool calls = false;  // has cells of calls
  std::uint64_t active = 0;
};
bool comes_before(const LaneRank& one, const LaneRank& other);

class Lanes : public FollowSink {
 public:
  static constexpr std::size_t kMostWakes = 2000;

  // tasks: to tell idle ones, which get no lane.
  Lanes(const Scale& scale, const Tasks& tasks) : scale_(scale), tasks_(tasks) {}

  void slice(const Slice& slice) override;
  // A cell of another picture as it stands; `active`: ticks that it adds to its lane's.
  void put(bool of_cpu, std::uint32_t id, const LaneCell& cell, std::uint64_t active);
  void wake(const Wake& wake) override;

  LanePicture take(const LaneWish& wish = {});
  // Of tasks that began to run in the scale; none where they are more than kMostWakes.
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

  Scale scale_;
  const Tasks& tasks_;
  std::unordered_map<std::uint64_t, Building> lanes_;
  std::vector<Wake> wakes_;
  std::uint64_t wake_count_ = 0;
};

}  // namespace fkt
