// SPDX-License-Identifier: GPL-2.0-only
#include "lib/lanes.h"

#include <algorithm>

namespace fkt {

LaneCell lane_cell(const Slice& slice) {
  return {.kind = slice.kind,
          .depth = slice.depth,
          .begun = slice.begun,
          .ended = slice.ended,
          .count = 1,
          .value = slice.value,
          .in = slice.in,
          .cpu = slice.cpu,
          .from = slice.from,
          .to = slice.to,
          .busy = slice.to - slice.from};
}

Gathered::Gathered(const LaneCell& one) : cell(one), longest(one.to - one.from) {
  if (one.kind == SliceKind::state) states[one.value & 3] = one.busy;
}

void Gathered::add(const Gathered& later) {
  cell.count += later.cell.count;
  cell.to = std::max(cell.to, later.cell.to);
  cell.busy += later.cell.busy;
  for (std::size_t state = 0; state < states.size(); state++) states[state] += later.states[state];
  if (later.longest <= longest) return;
  longest = later.longest;
  cell.value = later.cell.value;
  cell.in = later.cell.in;
  cell.cpu = later.cell.cpu;
}

LaneCell Gathered::closed() const {
  LaneCell closed = cell;
  if (cell.kind == SliceKind::state && cell.count > 1) {
    closed.value = static_cast<std::uint32_t>(std::ranges::max_element(states) - states.begin());
  }
  return closed;
}

// tasks_ may be younger than the task while the recording is being read.
bool Lanes::idle(TaskIndex task) const {
  return task < tasks_.size() && tasks_[task].idle;
}

Lanes::Building& Lanes::building(bool of_cpu, std::uint32_t id) {
  Building& building = lanes_[static_cast<std::uint64_t>(of_cpu) << 32 | id];
  building.lane.of_cpu = of_cpu;
  building.lane.id = id;
  return building;
}

void Lanes::slice(const Slice& slice) {
  if (slice.to <= scale_.from || slice.from >= scale_.to) return;
  const bool of_cpu = fkt::of_cpu(slice.kind);
  const std::uint32_t id = of_cpu ? slice.cpu : slice.task;
  if (!of_cpu && idle(id)) return;
  LaneCell cell = lane_cell(slice);
  cell.busy = std::min(slice.to, scale_.to) - std::max(slice.from, scale_.from);
  Building& lane = building(of_cpu, id);
  const bool runs =
      cell.kind == SliceKind::state && cell.value == static_cast<std::uint32_t>(TaskState::running);
  if (runs || (cell.kind == SliceKind::run && !idle(cell.value))) lane.lane.active += cell.busy;
  add(lane, cell);
}

void Lanes::put(bool of_cpu, std::uint32_t id, const LaneCell& cell, std::uint64_t active) {
  if (!of_cpu && idle(id)) return;
  Building& lane = building(of_cpu, id);
  lane.lane.cells.push_back(cell);
  lane.lane.active += active;
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
  if (gathering.open) return gathering.all.add(Gathered(cell));
  gathering = {column, true, Gathered(cell)};
}

void Lanes::close(Building& building, Gathering& gathering) {
  building.lane.cells.push_back(gathering.all.closed());
  gathering.open = false;
}

void Lanes::wake(const Wake& wake) {
  if (wake.runs < scale_.from || wake.woken >= scale_.to) return;
  if (++wake_count_ <= kMostWakes) {
    wakes_.push_back(wake);
  } else {
    wakes_.clear();
  }
}

std::vector<Lane> Lanes::take() {
  std::vector<Lane> lanes;
  for (auto& [key, building] : lanes_) {
    for (Gathering& gathering : building.depths) {
      if (gathering.open) close(building, gathering);
    }
    std::ranges::stable_sort(building.lane.cells, {},
                             [](const LaneCell& cell) { return std::pair(cell.depth, cell.from); });
    lanes.push_back(std::move(building.lane));
  }
  lanes_.clear();
  std::ranges::sort(lanes, [](const Lane& a, const Lane& b) {
    if (a.of_cpu != b.of_cpu) return a.of_cpu;
    if (!a.of_cpu && a.active != b.active) return a.active > b.active;
    // Of those that only wait, the ones in a call tell more; cells are sorted by depth.
    const bool a_calls = a.cells.back().depth > 0, b_calls = b.cells.back().depth > 0;
    if (!a.of_cpu && a_calls != b_calls) return a_calls;
    return a.id < b.id;
  });
  return lanes;
}

}  // namespace fkt
