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
    {
      JsonWriter all(out_, '{', '}');
      all.key("lanes");
      put_lanes(picture.lanes);
      all.key("wakes");
      put_wakes(wakes);
      all.key("wakes_left_out");
      out_.put(wakes_left_out_ ? "true" : "false");
      all.key("gaps");
      put_gaps(out_, gaps_in(model_.gaps(), request_.scale), model_.zero());
      all.key("task_count");
      out_.number(picture.tasks);
      all.key("bucket");
      out_.number(bucket_);
      all.key("coarse");
      out_.put(coarse ? "true" : "false");
      all.key("tasks");
      put_tasks();
      all.key("types");
      put_types();
    }
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

  void put_lanes(const std::vector<Lane>& lanes) {
    JsonWriter list(out_, '[', ']');
    for (const Lane& lane : lanes) {
      if (lane.of.kind == LaneKind::task) used_tasks_.insert(lane.of.id);
      if (lane.of.kind == LaneKind::async) used_types_.insert(lane.of.id);
      list.next();
      JsonWriter members(out_, '{', '}');
      members.key("cpu");
      out_.put(lane.of.kind == LaneKind::cpu ? "true" : "false");
      members.key("async");
      out_.put(lane.of.kind == LaneKind::async ? "true" : "false");
      members.key("id");
      out_.number(lane.of.id);
      members.key("cells");
      JsonWriter cells(out_, '[', ']');
      before_ = 0;
      for (const LaneCell& cell : lane.cells) {
        cells.next();
        put_cell(cell);
      }
    }
  }

  void put_cell(const LaneCell& cell) {
    const bool task = cell.kind == SliceKind::run || cell.kind == SliceKind::async;
    if (task) used_tasks_.insert(cell.value);
    if (!task && cell.kind != SliceKind::state) used_types_.insert(cell.value);
    if (cell.in != kNoType) used_types_.insert(cell.in);
    JsonWriter values(out_, '[', ']');
    values.number(static_cast<unsigned>(cell.kind));
    values.number(cell.depth);
    values.number((cell.begun ? 1 : 0) | (cell.ended ? 2 : 0));
    values.number(cell.count);
    values.number(cell.value);
    put_type(values, cell.in);
    values.number(cell.cpu);
    const std::int64_t from = since_zero(cell.from), to = since_zero(cell.to);
    const bool differences = request_.differences;
    values.number_signed(differences ? from - before_ : from);
    values.number_signed(differences ? to - from : to);
    values.number(differences && cell.busy == cell.to - cell.from ? 0 : cell.busy);
    before_ = from;
  }

  void put_type(JsonWriter& values, TypeIndex type) {
    if (type != kNoType) return values.number(type);
    values.next();
    out_.put("null");
  }

  void put_wakes(const std::vector<Wake>& wakes) {
    JsonWriter list(out_, '[', ']');
    for (const Wake& wake : wakes) {
      used_tasks_.insert(wake.waker);
      if (wake.interrupt != kNoType) used_types_.insert(wake.interrupt);
      used_tasks_.insert(wake.task);
      list.next();
      JsonWriter values(out_, '[', ']');
      values.number(wake.waker);
      values.number(wake.waker_cpu);
      values.number_signed(since_zero(wake.woken));
      values.number(wake.task);
      values.number(wake.cpu);
      values.number_signed(since_zero(wake.runs));
      put_type(values, wake.interrupt);
    }
  }

  void put_tasks() {
    JsonWriter all(out_, '{', '}');
    for (const TaskIndex task : used_tasks_) {
      if (task >= tasks_.size()) continue;
      all.key(std::to_string(task));
      JsonWriter members(out_, '{', '}');
      members.key("tid");
      out_.number(tasks_[task].tid);
      members.key("tgid");
      out_.number(tasks_[task].tgid);
      members.key("name");
      out_.json(tasks_.name(task));
      members.key("idle");
      out_.put(tasks_[task].idle ? "true" : "false");
    }
  }

  void put_types() {
    JsonWriter all(out_, '{', '}');
    for (const TypeIndex type : used_types_) {
      all.key(std::to_string(type));
      out_.json(model_.timeline().types()[type].name);
    }
  }

  std::int64_t since_zero(std::uint64_t clock) const {
    return static_cast<std::int64_t>(clock - model_.zero());
  }

  const Model& model_;
  const LaneListRequest& request_;
  const Tasks& tasks_;
  TextWriter out_;
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
