// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/search_passes.h"

#include "lib/analyse/call_subjects.h"

#include <algorithm>

#include <fmt/core.h>

#include "lib/read/event_merge.h"

namespace fkt {
namespace {

constexpr std::uint64_t kReadingEvents = 1 << 18;
constexpr std::size_t kMostPlaces = 4'000'000;  // 64 MB of memory

// Reads the recording once up to the selection's end, and calls `each` with every event and its
// place.
template <class Each>
void pass(const Recording& recording, Analysis& analysis, const Reading& reading, Each each) {
  std::uint64_t done = 0;
  for (const Event& event :
       recording.events({.from = {}, .to = analysis.selection().to, .cpu = {}})) {
    const Analysis::Found& place = analysis.add(event);
    if (++done % kReadingEvents == 0 && reading) reading(done);
    each(event, place);
  }
}

bool longer(const FoundSpan& a, const FoundSpan& b) {
  return a.duration != b.duration ? a.duration > b.duration : a.begin < b.begin;
}

// Finds out, once per span type, whether the pattern fits its name or its event's name.
class FittingTypes {
 public:
  FittingTypes(const Analysis& analysis, std::string_view pattern)
      : analysis_(analysis), pattern_(pattern) {}

  bool fits(TypeIndex index) {
    if (index >= known_.size()) known_.resize(index + 1, -1);
    if (known_[index] >= 0) return known_[index] != 0;
    const SpanType& type = analysis_.types()[index];
    const EventType* event = analysis_.info().catalogue.find(type.event);
    bool fit = fkt::fits(type.name, pattern_);
    if (!is_syscall(type.kind) && event != nullptr) fit |= fkt::fits(event->name, pattern_);
    known_[index] = fit;
    return fit;
  }

 private:
  const Analysis& analysis_;
  std::string_view pattern_;
  std::vector<std::int8_t> known_;  // by type: 1 if it fits; -1: not checked yet
};

}  // namespace

Result<std::shared_ptr<const Filter>> make_filter(const Recording& recording, std::string_view text,
                                                  const Reading& reading, bool by_name) {
  const auto expression = FKT_TRY(Expression::parse(text));
  auto bound = FKT_TRY(BoundExpression::bind(expression, recording.info()));
  if (by_name && bound.names_spans()) bound.select_whole_spans();
  const auto filter = std::make_shared<Filter>(Filter{std::move(bound)});
  if (filter->expression.whole_spans()) {
    Selection selection;
    selection.where = filter;
    Analysis analysis(recording.info(), selection);
    analysis.learn(filter->spans);
    pass(recording, analysis, reading, [](const Event&, const Analysis::Found&) {});
  }
  return std::shared_ptr<const Filter>(filter);
}

Result<std::shared_ptr<const Filter>> make_event_filter(const Recording& recording,
                                                        std::string_view text,
                                                        const Reading& reading) {
  if (text.find_first_of("=<>~!&|()\"'") != text.npos) return make_filter(recording, text, reading);
  const bool pattern = text.find_first_of("*?") != text.npos;
  auto filter = make_filter(
      recording, "name " + std::string(pattern ? "~" : "==") + " \"" + std::string(text) + '"',
      reading);
  if (filter) return filter;
  // The column is that of the expression made above, of which the user typed only the name.
  std::string_view message = filter.error().message;
  take_column(message);
  return Error{filter.error().code, std::string(message)};
}

Result<std::vector<Interval>> around(const Recording& recording, const Selection& selection,
                                     std::uint64_t window, const Reading& reading) {
  std::vector<Interval> found;
  bool too_many = false;
  Analysis analysis(recording.info(), selection);
  pass(recording, analysis, reading, [&](const Event& event, const Analysis::Found& place) {
    if (!place.shown || event.is_gap()) return;
    const std::uint64_t from = event.clock > window ? event.clock - window : 0;
    const std::uint64_t behind = event.clock + window;
    const std::uint64_t to = behind < window ? ~std::uint64_t{0} : behind + 1;
    if (!found.empty() && from <= found.back().to) {
      found.back().to = to;
    } else if (found.size() < kMostPlaces) {
      found.push_back({from, to});
    } else {
      too_many = true;
    }
  });
  if (!too_many) return found;
  return Error{
      ErrorCode::usage,
      fmt::format("more than {} places: give a larger window, or a rarer event", kMostPlaces)};
}

std::optional<Interval> extent(const Recording& recording, const Selection& selection,
                               const Reading& reading) {
  std::optional<Interval> found;
  Analysis analysis(recording.info(), selection);
  pass(recording, analysis, reading, [&](const Event& event, const Analysis::Found& place) {
    if (!place.shown || event.is_gap()) return;
    if (!found) found = {event.clock, event.clock};
    found->to = event.clock + 1;
  });
  return found;
}

namespace {

// Remembers on which CPU each span began.
class BeginCpus : public SpanObserver {
 public:
  void begin(OpenSpan& call, const SpanPosition& place) override { call.tag = place.cpu; }
  void end(const OpenSpan& call, Outcome, const SpanPosition& place) override {
    of_last_ = call.tag == OpenSpan::kNoTag ? place.cpu : static_cast<std::uint32_t>(call.tag);
    interrupt_ = place.interrupt;
  }
  void charge(const OpenSpan*, std::uint32_t, CpuState, std::uint64_t) override {}
  // Of the span that ended last.
  std::uint32_t of_last() const { return of_last_; }
  bool is_interrupt() const { return interrupt_; }

 private:
  std::uint32_t of_last_ = 0;
  bool interrupt_ = false;
};

// Keeps the longest spans that it is given.
class Longest {
 public:
  explicit Longest(std::size_t most) : most_(most) {}
  bool wants(const FoundSpan& span) const {
    return heap_.size() < most_ || (most_ > 0 && longer(span, heap_.front()));
  }
  void add(FoundSpan span) {
    if (heap_.size() == most_) {
      std::ranges::pop_heap(heap_, longer);
      heap_.pop_back();
    }
    heap_.push_back(std::move(span));
    std::ranges::push_heap(heap_, longer);
  }
  std::vector<FoundSpan> take() {
    std::ranges::sort(heap_, longer);
    return std::move(heap_);
  }

 private:
  const std::size_t most_;
  std::vector<FoundSpan> heap_;  // a heap with the shortest span in front
};

}  // namespace

std::vector<FoundSpan> slowest(const Recording& recording, const Selection& selection,
                               std::string_view name, std::size_t most, const Reading& reading) {
  Longest found(most);
  Analysis analysis(recording.info(), selection);
  BeginCpus cpus;
  analysis.watch(cpus);
  FittingTypes types(analysis, name);
  CallSubjects subjects(analysis);
  const auto add = [&](FoundSpan span, TypeIndex type) {
    if (selection.from && span.begin < *selection.from) return;
    if (!found.wants(span)) return;
    span.name = analysis.types()[type].name;
    span.task = analysis.tasks().name(span.index);
    if (is_syscall(analysis.types()[type].kind)) span.about = subjects.about(span.index);
    found.add(std::move(span));
  };
  pass(recording, analysis, reading, [&](const Event& event, const Analysis::Found& place) {
    subjects.add(event, place);
    if (!place.shown) return;
    const SpanStep& step = place.step;
    if (step.closed && types.fits(step.type)) {
      add({.begin = event.clock - step.duration,
           .duration = step.duration,
           .cpu = cpus.of_last(),
           .pid = event.pid,
           .index = place.task,
           .interrupt = cpus.is_interrupt()},
          step.type);
    }
    if (step.async == kNoType || !types.fits(step.async)) return;
    const AsyncSpan& span = analysis.ended_asyncs().back().span;
    add({.begin = span.begin,
         .duration = step.async_duration,
         .cpu = span.cpu,
         .pid = analysis.tasks()[span.task].tid,
         .index = span.task,
         .async = true},
        step.async);
  });
  return found.take();
}

}  // namespace fkt
