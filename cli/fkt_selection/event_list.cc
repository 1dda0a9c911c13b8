// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/event_list.h"

#include <nlohmann/json.hpp>

#include "lib/report/event_format.h"

namespace fkt::cli {
namespace {

using nlohmann::json;

class ListSink : public StateObserver {
 public:
  ListSink(const Timeline& timeline, const EventListRequest& request, std::uint64_t zero)
      : request_(request),
        zero_(zero),
        tasks_(timeline.tasks()),
        time_(TimeUnit::readable, timeline.trace().info().clocks.ticks_per_second()),
        format_(timeline.trace().info(), tasks_, timeline.types(), time_) {}

  void slice(const Slice&) override {}
  void event(const Event& event, TaskIndex running, const SpanStep& step) override {
    if (event.id == kGapBegins) return;  // it is listed at its end
    if (event.clock < request_.from || (request_.cpu && *request_.cpu != event.cpu)) return;
    if (request_.task && *request_.task != running) return;
    if (events_.size() == request_.most) {
      more_ = true;
      return;
    }
    text_.clear();
    if (event.id == FKT_W_LOST) {
      text_.put("events lost: ");
      text_.number(event.words.empty() ? 0 : event.words[0]);
    } else {
      format_.text(text_, event, step);
    }
    events_.push_back({{"time", static_cast<std::int64_t>(event.clock - zero_)},
                       {"cpu", event.cpu},
                       {"tid", event.pid},
                       {"task", running},
                       {"task_name", tasks_.name(running)},
                       {"depth", step.depth},
                       {"text", text_.view()}});
  }
  bool enough() const override { return more_; }
  json take() { return {{"events", std::move(events_)}, {"more", more_}}; }

 private:
  const EventListRequest& request_;
  std::uint64_t zero_;
  const Tasks& tasks_;
  TimeFormat time_;
  EventFormat format_;
  TextWriter text_;
  std::vector<json> events_;
  bool more_ = false;
};

}  // namespace

json list_events(const Timeline& timeline, const EventListRequest& request, std::uint64_t zero) {
  ListSink sink(timeline, request, zero);
  timeline.follow(request.from, request.to, sink);
  return sink.take();
}

}  // namespace fkt::cli
