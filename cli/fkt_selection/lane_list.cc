// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/lane_list.h"

#include <algorithm>
#include <set>

#include "cli/fkt_selection/density_list.h"
#include "lib/base/json_writer.h"

namespace fkt::cli {
namespace {

// Up to this number of events, a picture is made by following the events again; more for a fine
// picture.
constexpr std::uint64_t kFollowed = 300'000, kFollowedForFine = 8'000'000;
constexpr std::size_t kCellBytes = 64;  // bytes of JSON per cell, rarely more

// Sets the ends of cells that are still open at the end of the picture.
class Ends : public StateObserver {
 public:
  explicit Ends(LanePyramid::OpenCells& open) : open_(open) {}
  void slice(const Slice& slice) override {
    if (!slice.ended) return;
    const auto found = open_.find(LanePyramid::open_key(lane_of(slice), lane_cell(slice)));
    if (found == open_.end()) return;
    found->second->to = slice.to;
    found->second->ended = true;
    open_.erase(found);
  }
  bool enough() const override { return open_.empty(); }

 private:
  LanePyramid::OpenCells& open_;
};

class LaneList {
 public:
  LaneList(const Model& model, const LaneListRequest& request)
      : model_(model), request_(request), tasks_(model.timeline().tasks()) {}

  std::string text(const Unwanted& unwanted) {
    std::vector<Wake> wakes;
    bool coarse = false;
    const LanePicture picture = find(unwanted, wakes, coarse);
    std::size_t cells = 0;
    for (const Lane& lane : picture.lanes) cells += lane.cells.size();
    out_.room(kCellBytes * cells);
    json_.object([&] {
      json_.key("lanes").array([&] {
        for (const Lane& lane : picture.lanes) put_lane(lane);
      });
      json_.key("wakes").array([&] {
        for (const Wake& wake : wakes) put_wake(wake);
      });
      json_.members("wakes_left_out", wakes_left_out_);
      put_gaps(json_.key("gaps"), gaps_in(model_.gaps(), request_.scale), model_.zero());
      json_.members("task_count", picture.tasks, "bucket", bucket_, "coarse", coarse);
      json_.key("tasks").object([&] { put_tasks(); });
      json_.key("types").object([&] {
        for (const TypeIndex type : used_types_) {
          json_.members(std::to_string(type), model_.timeline().types()[type].name);
        }
      });
    });
    return out_.take();
  }

 private:
  // Returns the picture from the levels of detail if following the events again would take too
  // long.
  LanePicture find(const Unwanted& unwanted, std::vector<Wake>& wakes, bool& coarse) {
    const TimeScale& scale = request_.scale;
    const std::uint64_t events = model_.events_about(scale.from, scale.to);
    const std::uint64_t column = (scale.to - scale.from) / scale.cells;
    bucket_ = column;
    if (events > (request_.fine ? kFollowedForFine : kFollowed)) {
      bucket_ = model_.lane_pyramid().bucket(scale);
      coarse = events <= kFollowedForFine && bucket_ > 2 * column;
      wakes_left_out_ = true;
      return model_.lane_pyramid().lanes(scale, lane_filter());
    }
    Lanes lanes(scale, tasks_, request_.most_wakes);
    model_.timeline().follow(scale.from, scale.to, lanes, unwanted);
    wakes = lanes.wakes();
    wakes_left_out_ = lanes.wake_count() > wakes.size();
    LanePicture picture = lanes.take(lane_filter());
    complete(picture, unwanted);
    return picture;
  }

  // Completes cells that are open at the end of the picture with their real ends: from the levels
  // of detail, or, if they are too short for these, by following the events a little further.
  void complete(LanePicture& picture, const Unwanted& unwanted) const {
    LanePyramid::OpenCells open;
    for (Lane& lane : picture.lanes) {
      for (LaneCell& cell : lane.cells) {
        if (cell.count != 1 || cell.ended || cell.to < request_.scale.to) continue;
        open[LanePyramid::open_key(lane.of, cell)] = &cell;
      }
    }
    model_.lane_pyramid().complete(open, request_.scale.to);
    if (open.empty()) return;
    Ends ends(open);
    const std::uint64_t to = request_.scale.to;
    model_.timeline().follow(to, to + 2 * model_.lane_pyramid().finest_bucket(), ends, unwanted);
  }

  LaneFilter lane_filter() const {
    LaneFilter filter{.most = request_.most, .wanted = {}, .always = {}};
    if (!request_.pins.empty()) {
      filter.always = [this](TaskIndex task) {
        return std::ranges::find(request_.pins, tasks_[task].tid) != request_.pins.end();
      };
    }
    if (request_.filter.empty()) return filter;
    filter.wanted = [this](TaskIndex task) {
      return tasks_.name(task).find(request_.filter) != std::string_view::npos ||
             std::to_string(tasks_[task].tid) == request_.filter ||
             std::to_string(tasks_[task].tgid) == request_.filter;
    };
    return filter;
  }

  void put_lane(const Lane& lane) {
    if (lane.of.kind == LaneKind::task) used_tasks_.insert(lane.of.id);
    if (lane.of.kind == LaneKind::async) used_types_.insert(lane.of.id);
    before_ = 0;
    json_.object("cpu", lane.of.kind == LaneKind::cpu, "async", lane.of.kind == LaneKind::async,
                 "id", lane.of.id, "cells", [&] {
                   json_.array([&] {
                     for (const LaneCell& cell : lane.cells) put_cell(cell);
                   });
                 });
  }

  void put_cell(const LaneCell& cell) {
    const bool task = cell.kind == SliceKind::run || cell.kind == SliceKind::async;
    if (task) used_tasks_.insert(cell.value);
    if (!task && cell.kind != SliceKind::state) used_types_.insert(cell.value);
    const std::int64_t from = since_zero(cell.from), to = since_zero(cell.to);
    const bool differences = request_.differences;
    json_.row(static_cast<unsigned>(cell.kind), cell.depth,
              (cell.begun ? 1 : 0) | (cell.ended ? 2 : 0), cell.count, cell.value, used(cell.in),
              cell.cpu, differences ? from - before_ : from, differences ? to - from : to,
              differences && cell.busy == cell.to - cell.from ? 0 : cell.busy);
    before_ = from;
  }

  void put_wake(const Wake& wake) {
    used_tasks_.insert(wake.waker);
    used_tasks_.insert(wake.task);
    json_.row(wake.waker, wake.waker_cpu, since_zero(wake.woken), wake.task, wake.cpu,
              since_zero(wake.runs), used(wake.interrupt));
  }

  std::optional<TypeIndex> used(TypeIndex type) {
    if (type == kNoType) return {};
    used_types_.insert(type);
    return type;
  }

  void put_tasks() {
    for (const TaskIndex task : used_tasks_) {
      if (task >= tasks_.size()) continue;
      json_.key(std::to_string(task))
          .object("tid", tasks_[task].tid, "tgid", tasks_[task].tgid, "name", tasks_.name(task),
                  "idle", tasks_[task].idle);
    }
  }

  std::int64_t since_zero(std::uint64_t clock) const {
    return static_cast<std::int64_t>(clock - model_.zero());
  }

  const Model& model_;
  const LaneListRequest& request_;
  const Tasks& tasks_;
  TextWriter out_;
  JsonWriter json_{out_};
  bool wakes_left_out_ = false;
  std::uint64_t bucket_ = 0;  // ticks
  std::int64_t before_ = 0;   // the begin of the lane's cell before
  std::set<TaskIndex> used_tasks_;
  std::set<TypeIndex> used_types_;
};

}  // namespace

std::string list_lanes(const Model& model, const LaneListRequest& request,
                       const Unwanted& unwanted) {
  return LaneList(model, request).text(unwanted);
}

}  // namespace fkt::cli
