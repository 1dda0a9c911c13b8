// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/lanes.h"

#include <algorithm>

namespace fkt {

LaneCell lane_cell(const PackedSlice& slice) {
  return {.kind = slice.kind,
          .depth = slice.depth,
          .begun = slice.begun,
          .ended = slice.ended,
          .count = slice.count,
          .value = slice.kind == SliceKind::async ? slice.task : slice.value,
          .in = slice.in,
          .cpu = slice.cpu,
          .from = slice.from,
          .to = slice.to,
          .busy = slice.busy};
}

Gathered::Gathered(const LaneCell& one) : cell(one), longest(one.to - one.from) {
  if (one.kind == SliceKind::state) states[one.value & 3] = one.busy;
}

Gathered::Gathered(const PackedSlice& one) : cell(lane_cell(one)), longest(one.longest) {
  if (one.kind == SliceKind::state) states[one.value & 3] = one.busy;
}

void Gathered::add(const LaneCell& one) {
  if (one.kind == SliceKind::state) states[one.value & 3] += one.busy;
  add(one, one.to - one.from);
}

void Gathered::add(const Gathered& later) {
  for (std::size_t state = 0; state < states.size(); state++) states[state] += later.states[state];
  add(later.cell, later.longest);
}

// longest_in: duration of the slice that gave `later` its value (ticks).
inline void Gathered::add(const LaneCell& later, std::uint64_t longest_in) {
  cell.count += later.count;
  cell.to = std::max(cell.to, later.to);
  cell.busy += later.busy;
  if (longest_in <= longest) return;
  longest = longest_in;
  cell.value = later.value;
  cell.in = later.in;
  cell.cpu = later.cpu;
}

LaneCell Gathered::closed() const {
  LaneCell closed = cell;
  if (cell.kind == SliceKind::state && cell.count > 1) {
    closed.value = static_cast<std::uint32_t>(std::ranges::max_element(states) - states.begin());
  }
  return closed;
}

// While a recording is still being read, tasks_ may lack the task.
bool Lanes::idle(TaskIndex task) const {
  return task < tasks_.size() && tasks_[task].idle;
}

Lanes::Building& Lanes::building(LaneId of) {
  Building& building = lanes_[of.packed()];
  building.lane.of = of;
  return building;
}

void Lanes::slice(const Slice& slice) {
  if (slice.to <= scale_.from || slice.from >= scale_.to) return;
  const LaneId of = lane_of(slice);
  if (!is_shown(of)) return;
  LaneCell cell = lane_cell(slice);
  cell.busy = std::min(slice.to, scale_.to) - std::max(slice.from, scale_.from);
  Building& lane = building(of);
  const bool runs =
      cell.kind == SliceKind::state && cell.value == static_cast<std::uint32_t>(TaskState::running);
  if (runs || (cell.kind == SliceKind::run && !idle(cell.value))) lane.lane.active += cell.busy;
  add(lane, cell);
}

void Lanes::put(LaneId of, const LaneCell& cell, std::uint64_t active) {
  if (!is_shown(of)) return;
  Lane& lane = building(of).lane;
  if (lane.cells.empty()) lane.cells.reserve(scale_.cells);
  lane.cells.push_back(cell);
  lane.active += active;
}

void Lanes::add(Building& building, const LaneCell& cell) {
  if (cell.depth >= building.depths.size()) building.depths.resize(cell.depth + 1);
  Gathering& gathering = building.depths[cell.depth];
  const std::uint64_t from = std::max(cell.from, scale_.from);
  const std::uint64_t to = std::min(cell.to, scale_.to);
  const bool wide =
      (to - from) * static_cast<unsigned __int128>(scale_.cells) >= scale_.to - scale_.from;
  const std::uint32_t column = scale_.cell(from);
  if (gathering.open && (wide || column != gathering.column)) close(building, gathering);
  if (wide) return building.lane.cells.push_back(cell);
  if (gathering.open) return gathering.all.add(cell);
  gathering = {column, true, Gathered(cell)};
}

void Lanes::close(Building& building, Gathering& gathering) {
  building.lane.cells.push_back(gathering.all.closed());
  gathering.open = false;
}

void Lanes::wake(const Wake& wake) {
  if (wake.runs < scale_.from || wake.woken >= scale_.to) return;
  if (++wake_count_ <= most_wakes_) {
    wakes_.push_back(wake);
  } else {
    wakes_.clear();
  }
}

void Lanes::finish(Building& building) {
  for (Gathering& gathering : building.depths) {
    if (gathering.open) close(building, gathering);
  }
  std::ranges::stable_sort(building.lane.cells, {},
                           [](const LaneCell& cell) { return std::pair(cell.depth, cell.from); });
}

// Among tasks that only wait, those in a system call are more informative.
bool comes_before(const LaneRank& one, const LaneRank& other) {
  if (one.of.kind != other.of.kind) return one.of.kind < other.of.kind;
  const bool tasks = one.of.kind == LaneKind::task;
  if (tasks && one.active != other.active) return one.active > other.active;
  if (tasks && one.calls != other.calls) return one.calls;
  return one.of.id < other.of.id;
}

LanePicture Lanes::take(const LaneFilter& filter) {
  std::vector<std::pair<LaneRank, Building*>> ranks;
  LanePicture picture;
  for (auto& [key, building] : lanes_) {
    const Lane& lane = building.lane;
    const bool task = lane.of.kind == LaneKind::task;
    if (task && !filter.has(lane.of.id)) continue;
    picture.tasks += task;
    const bool calls =
        building.depths.size() > 1 || std::ranges::any_of(lane.cells, &LaneCell::depth);
    ranks.push_back({{lane.of, calls, lane.active}, &building});
  }
  std::ranges::sort(ranks, comes_before, &std::pair<LaneRank, Building*>::first);
  std::uint64_t tasks = 0;
  for (const auto& [rank, building] : ranks) {
    const bool task = rank.of.kind == LaneKind::task;
    if (task && ++tasks > filter.most && !filter.is_always(rank.of.id)) continue;
    finish(*building);
    picture.lanes.push_back(std::move(building->lane));
  }
  lanes_.clear();
  return picture;
}

}  // namespace fkt
