// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/event_list.h"

#include "lib/report/event_format.h"

namespace fkt::cli {
namespace {

class ListSink : public StateObserver {
 public:
  ListSink(const Timeline& timeline, const EventListRequest& request, std::uint64_t zero,
           const ListEvent& list)
      : request_(request),
        list_(list),
        zero_(zero),
        tasks_(timeline.tasks()),
        time_(TimeUnit::readable, timeline.recording().info().clocks.ticks_per_second()),
        format_(timeline.recording().info(), tasks_, timeline.types(), time_) {}

  void slice(const Slice&) override {}
  void event(const Event& event, TaskIndex running, const SpanStep& step) override {
    if (event.id == kGapBegins) return;  // it is listed at its end
    if (event.clock < request_.from || (request_.cpu && *request_.cpu != event.cpu)) return;
    if (request_.task && *request_.task != running) return;
    if (listed_ == request_.most) {
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
    listed_++;
    list_({static_cast<std::int64_t>(event.clock - zero_), event.cpu, event.pid, running,
           tasks_.name(running), step.depth, text_.view()});
  }
  bool enough() const override { return more_; }

 private:
  const EventListRequest& request_;
  const ListEvent& list_;
  std::uint64_t zero_;
  const Tasks& tasks_;
  TimeFormat time_;
  EventFormat format_;
  TextWriter text_;
  std::size_t listed_ = 0;
  bool more_ = false;
};

}  // namespace

bool list_events(const Timeline& timeline, const EventListRequest& request, std::uint64_t zero,
                 const ListEvent& list) {
  ListSink sink(timeline, request, zero, list);
  timeline.follow(request.from, request.to, sink);
  return sink.enough();
}

}  // namespace fkt::cli
