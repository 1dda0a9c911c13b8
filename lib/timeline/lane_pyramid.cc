// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/lane_pyramid.h"

#include <algorithm>

namespace fkt {
namespace {

constexpr std::uint64_t kEventsPerCell = 16;  // keeps the levels smaller than the recording
constexpr std::uint64_t kAlwaysRoom = 1 << 16;
constexpr std::size_t kManyLanes = 1 << 13;  // beyond this, lanes without an open cell are dropped

// Returns the cell of a part, which has its times and its number of slices.
const PackedSlice& cell_of(const PackedSlice& slice) {
  return slice;
}
const LaneCell& cell_of(const Gathered& gathered) {
  return gathered.cell;
}

}  // namespace

LanePyramid::LanePyramid(std::uint64_t from, std::uint64_t to, std::uint64_t events,
                         std::uint64_t late, const Tasks& tasks, std::uint64_t most)
    : from_(from),
      late_(late),
      tasks_(tasks),
      most_(std::min(most, std::max(kAlwaysRoom, events / kEventsPerCell))) {
  const std::uint64_t span = to - from;
  std::uint64_t width = std::max<std::uint64_t>(1, span / (events / kEventsPerBucket + 1));
  do {
    Level& level = levels_.emplace_back();
    level.width = width;
    level.now = from_;
    width *= 2;
  } while (width <= span / kFewest);
  finest_level_ = levels_.data();
}

void LanePyramid::feed(const PackedSlice& slice) {
  feed(finest_, key_of(slice), slice);
  if (cells_ > (in_memory_ ? std::min(most_, kMostInMemory) : most_)) forget_finest();
}

template <class Part>
inline void LanePyramid::feed(std::size_t number, std::uint64_t key, const Part& part) {
  if (number >= levels_.size()) return;
  Level& level = levels_[number];
  const auto& cell = cell_of(part);
  // A narrow slice ends in the bucket in which it begins or in the next one, and comes late_ ticks
  // later at most: buckets before that get no more slices.
  if (cell.to > level.now && cell.to - level.now >= level.width) {
    level.now = bucket_of(level, cell.to);
    flush(number, level.now - std::min(level.now, level.width + (number + 1) * late_));
  }
  const bool wide = cell.count == 1 && cell.to - cell.from >= level.width;
  Open& open = level.lanes[key];
  const std::uint64_t from = std::max(cell.from, from_);
  const bool in_open = open.open && from - open.bucket < level.width;
  if (open.open && (wide || !in_open)) close(number, key, open);
  if (wide) return keep(number, key, Gathered(part));
  if (in_open) return open.all.add(part);
  open = {true, bucket_of(level, from), Gathered(part)};
  level.opened.emplace_back(open.bucket, key);
}

// Closes the open cells of all buckets that begin before `before` (ticks).
void LanePyramid::flush(std::size_t number, std::uint64_t before) {
  Level& level = levels_[number];
  while (!level.opened.empty() && level.opened.front().first < before) {
    const auto [bucket, key] = level.opened.front();
    level.opened.pop_front();
    Open* const open = level.lanes.find(key);
    if (open == nullptr || !open->open || open->bucket != bucket) continue;
    close(number, key, *open);
  }
  if (level.lanes.size() > kManyLanes) level.lanes.forget_closed();
}

void LanePyramid::close(std::size_t number, std::uint64_t key, Open& open) {
  open.open = false;
  keep(number, key, open.all);
}

void LanePyramid::keep(std::size_t number, std::uint64_t key, const Gathered& gathered) {
  Level& level = levels_[number];
  if (number >= finest_) {
    const Cell cell{gathered.cell, static_cast<std::uint32_t>(key),
                    static_cast<float>(gathered.longest), static_cast<float>(gathered.states[2]),
                    static_cast<float>(gathered.states[3])};
    if (level.cells.push_back(cell)) {
      cells_++;
      if (level.cells.size() > level.extents.size() * kBlock) level.extents.emplace_back();
      Extent& extent = level.extents.back();
      extent.from = std::min(extent.from, gathered.cell.from);
      extent.to = std::max(extent.to, gathered.cell.to);
    }
  }
  in_memory_ |= level.cells.in_memory();
  feed(number + 1, key, gathered);
}

// The cells of the finest level are contained in the next one, except for those still open, which
// flush() passes on.
void LanePyramid::forget_finest() {
  if (finest_ + 1 >= levels_.size()) return;
  const std::size_t gone = finest_++;
  finest_level_ = &levels_[finest_];
  cells_ -= levels_[gone].cells.size();
  flush(gone, ~std::uint64_t{0});
  levels_[gone] = Level{.width = levels_[gone].width};
}

void LanePyramid::finish() {
  for (std::size_t level = finest_; level < levels_.size(); level++) {
    flush(level, ~std::uint64_t{0});
    levels_[level].lanes = {};
  }
}

const LanePyramid::Level& LanePyramid::level_for(const TimeScale& scale) const {
  const std::uint64_t column = (scale.to - scale.from + scale.cells - 1) / scale.cells;
  std::size_t level = finest_;
  while (level + 1 < levels_.size() && levels_[level].width < column) level++;
  return levels_[level];
}

template <class Use>
void LanePyramid::each_cell(const Level& level, const TimeScale& scale, const Use& use) {
  const auto outside = [&](const auto& part) {
    return part.to <= scale.from || part.from >= scale.to;
  };
  for (std::size_t block = 0; block < level.extents.size(); block++) {
    if (outside(level.extents[block])) continue;
    const std::size_t end = std::min((block + 1) * kBlock, level.cells.size());
    for (std::size_t i = block * kBlock; i < end; i++) {
      const Cell& stored = level.cells[i];
      if (!outside(stored.cell)) use(stored);
    }
  }
}

// Returns, by task, whether its lane is in the picture. count: number of wanted tasks.
std::vector<bool> LanePyramid::chosen_tasks(const Level& level, const TimeScale& scale,
                                            const LaneFilter& filter, std::uint64_t& count) const {
  std::vector<LaneRank> all(tasks_.size());
  each_cell(level, scale, [&](const Cell& stored) {
    const LaneId of = LaneId::unpacked(stored.lane);
    if (of.kind != LaneKind::task || of.id >= all.size()) return;
    LaneRank& rank = all[of.id];
    rank.of = of;
    rank.calls |= stored.cell.depth > 0;
    rank.active += active(stored, shown(stored, scale));
  });
  std::vector<LaneRank> wanted;
  for (TaskIndex task = 0; task < all.size(); task++) {
    if (all[task].of.kind != LaneKind::task || tasks_[task].idle) continue;  // nothing is here
    if (!filter.has(task)) continue;
    wanted.push_back(all[task]);
  }
  count = wanted.size();
  const auto end = wanted.begin() + static_cast<std::ptrdiff_t>(std::min(count, filter.most));
  std::ranges::nth_element(wanted, end, comes_before);
  std::vector<bool> chosen(all.size());
  for (auto rank = wanted.begin(); rank != wanted.end(); ++rank) {
    if (rank < end || filter.is_always(rank->of.id)) chosen[rank->of.id] = true;
  }
  return chosen;
}

// Two passes: the first selects the tasks, the second collects only their cells, as most cells
// belong to other tasks.
LanePicture LanePyramid::lanes(const TimeScale& scale, const LaneFilter& filter) const {
  const Level& level = level_for(scale);
  std::uint64_t tasks = 0;
  const std::vector<bool> chosen = chosen_tasks(level, scale, filter, tasks);
  Lanes lanes(scale, tasks_);
  each_cell(level, scale, [&](const Cell& stored) {
    const LaneId of = LaneId::unpacked(stored.lane);
    if (of.kind == LaneKind::task && (of.id >= chosen.size() || !chosen[of.id])) return;
    const LaneCell cell = shown(stored, scale);
    lanes.put(of, cell, active(stored, cell));
  });
  LanePicture picture = lanes.take();
  picture.tasks = tasks;
  return picture;
}

// Long slices are on every level. The search begins at the coarsest, which has the fewest cells.
void LanePyramid::complete(OpenCells& open, std::uint64_t clock) const {
  for (std::size_t level = levels_.size(); level-- > finest_ && !open.empty();) {
    each_cell(levels_[level], TimeScale{clock - 1, clock + 1, 1}, [&](const Cell& stored) {
      if (stored.cell.count != 1 || !stored.cell.ended) return;
      const auto found = open.find({stored.lane, stored.cell.depth, stored.cell.from});
      if (found == open.end()) return;
      found->second->to = stored.cell.to;
      found->second->ended = true;
      open.erase(found);
    });
  }
}

LaneCell LanePyramid::shown(const Cell& stored, const TimeScale& scale) {
  LaneCell cell = stored.cell;
  if (cell.count == 1) {
    cell.busy = std::min(cell.to, scale.to) - std::max(cell.from, scale.from);
  } else if (cell.kind == SliceKind::state) {
    const double running = static_cast<double>(cell.busy) - stored.ready - stored.blocked;
    TaskState most = stored.ready >= stored.blocked ? TaskState::ready : TaskState::blocked;
    if (running >= std::max(stored.ready, stored.blocked)) most = TaskState::running;
    cell.value = static_cast<std::uint32_t>(most);
  }
  return cell;
}

// Returns the ticks that a cell, as shown, adds to Lane::active.
std::uint64_t LanePyramid::active(const Cell& stored, const LaneCell& cell) const {
  if (cell.kind == SliceKind::run) {
    return cell.value < tasks_.size() && tasks_[cell.value].idle ? 0 : cell.busy;
  }
  if (cell.kind != SliceKind::state) return 0;
  if (cell.count == 1) {
    return cell.value == static_cast<std::uint32_t>(TaskState::running) ? cell.busy : 0;
  }
  const double running = static_cast<double>(cell.busy) - stored.ready - stored.blocked;
  return static_cast<std::uint64_t>(std::max(0., running));
}

}  // namespace fkt
