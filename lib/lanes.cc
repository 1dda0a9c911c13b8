// SPDX-License-Identifier: GPL-2.0-only
#include "lib/lanes.h"

#include <algorithm>

namespace fkt {

void Lanes::slice(const Slice& slice) {
  if (slice.to <= scale_.from || slice.from >= scale_.to) return;
  const bool of_cpu = slice.kind == SliceKind::run || slice.kind == SliceKind::interrupt;
  cell(of_cpu, of_cpu ? slice.cpu : slice.task,
       {.kind = slice.kind,
        .depth = slice.depth,
        .begun = slice.begun,
        .ended = slice.ended,
        .count = 1,
        .value = slice.value,
        .in = slice.in,
        .cpu = slice.cpu,
        .from = slice.from,
        .to = slice.to,
        .busy = std::min(slice.to, scale_.to) - std::max(slice.from, scale_.from)});
}

// tasks_ may be younger than the task while the recording is being read.
bool Lanes::idle(TaskIndex task) const {
  return task < tasks_.size() && tasks_[task].idle;
}

void Lanes::cell(bool of_cpu, std::uint32_t id, const LaneCell& cell) {
  if (cell.to <= scale_.from || cell.from >= scale_.to || (!of_cpu && idle(id))) return;
  Building& building = lanes_[static_cast<std::uint64_t>(of_cpu) << 32 | id];
  building.lane.of_cpu = of_cpu;
  building.lane.id = id;
  const bool runs =
      cell.kind == SliceKind::state && cell.value == static_cast<std::uint32_t>(TaskState::running);
  if (runs || (cell.kind == SliceKind::run && !idle(cell.value))) building.lane.active += cell.busy;
  add(building, cell);
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
  const std::uint64_t length = cell.to - cell.from;
  if (!gathering.open) {
    gathering = {column, length, {}, cell, true};
  } else {
    LaneCell& all = gathering.cell;
    all.count += cell.count;
    all.to = std::max(all.to, cell.to);
    all.busy += cell.busy;
    if (length > gathering.longest) {
      gathering.longest = length;
      all.value = cell.value;
      all.in = cell.in;
      all.cpu = cell.cpu;
    }
  }
  if (cell.kind == SliceKind::state) gathering.states[cell.value & 3] += cell.busy;
}

void Lanes::close(Building& building, Gathering& gathering) {
  LaneCell& cell = gathering.cell;
  if (cell.kind == SliceKind::state && cell.count > 1) {
    const auto most = std::ranges::max_element(gathering.states);
    cell.value = static_cast<std::uint32_t>(most - gathering.states.begin());
  }
  building.lane.cells.push_back(cell);
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
    return a.id < b.id;
  });
  return lanes;
}

}  // namespace fkt
