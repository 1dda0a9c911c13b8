// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/occurrence_search.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "lib/query/expression.h"

namespace fkt {
namespace {

// Stops the scan at the first match. A slice is reported when it ends, so a match that began
// earlier may still be open then; next_occurrence() looks for it in a second pass.
class NextSink : public StateObserver {
 public:
  NextSink(const NameMatch& match, std::uint64_t from) : match_(match), from_(from) {}

  void slice(const Slice& slice) override {
    if (slice.from >= from_ && match_.slice(slice)) offer({slice});
  }
  void event(const Event& event, TaskIndex running, const SpanStep&) override {
    if (event.is_gap() || event.clock < from_ || !match_.event(event)) return;
    offer({{.cpu = event.cpu, .task = running, .from = event.clock, .to = event.clock}, event.id});
  }
  bool enough() const override { return found_.has_value(); }
  const std::optional<Occurrence>& found() const { return found_; }

 private:
  void offer(const Occurrence& occurrence) {
    if (!found_ || occurrence.slice.from < found_->slice.from) found_ = occurrence;
  }
  const NameMatch& match_;
  std::uint64_t from_;
  std::optional<Occurrence> found_;
};

// Finds the end of a slice that was cut off where an earlier pass ended.
class WholeSink : public StateObserver {
 public:
  explicit WholeSink(const Slice& cut) : whole_(cut), from_(cut.from) {}

  void slice(const Slice& slice) override {
    if (slice.from != from_ || slice.kind != whole_.kind || slice.depth != whole_.depth) return;
    if (slice.task != whole_.task || slice.value != whole_.value || slice.cpu != whole_.cpu) return;
    whole_ = slice;
    is_found_ = true;
  }
  bool enough() const override { return is_found_; }
  const Slice& whole() const { return whole_; }

 private:
  Slice whole_;
  std::uint64_t from_;
  bool is_found_ = false;
};

class SlowestSink : public StateObserver {
 public:
  SlowestSink(const NameMatch& match, std::uint64_t from, std::size_t most, std::uint64_t at_least,
              std::uint64_t below)
      : match_(match), from_(from), most_(most), at_least_(at_least), below_(below) {}

  void slice(const Slice& slice) override {
    if (!slice.begun || !slice.ended || slice.from < from_) return;
    const std::uint64_t length = slice.to - slice.from;
    if (length < at_least_ || length >= below_ || !match_.slice(slice)) return;
    if (found_.size() == most_ && length <= found_.back().length()) return;
    const auto place =
        std::ranges::upper_bound(found_, length, std::greater<>(), &Occurrence::length);
    found_.insert(place, Occurrence{slice});
    if (found_.size() > most_) found_.pop_back();
  }
  std::vector<Occurrence> take() { return std::move(found_); }

 private:
  const NameMatch& match_;
  std::uint64_t from_;
  std::size_t most_;
  std::uint64_t at_least_, below_;
  std::vector<Occurrence> found_;  // longest first
};

}  // namespace

NameMatch::NameMatch(std::string_view name, const SpanTypes& types, const Catalogue& catalogue,
                     const Tasks* tasks)
    : catalogue_(catalogue),
      types_(types.size()),
      events_(1 << FKT_ID_BITS),
      tasks_(tasks == nullptr ? 0 : tasks->size()) {
  if (name.empty()) return;
  const std::string part = '*' + std::string(name) + '*';
  find(name, types, catalogue, tasks);
  if (!any_) find(part, types, catalogue, tasks);
  if (!any_ || name.find('/') != name.npos) text_ = part;
}

bool NameMatch::has_text(const Event& event) const {
  const EventType* type = catalogue_.find(event.id);
  if (type == nullptr) return false;
  const auto found = [&](const Field& field) {
    return field.type == FieldType::str && fits(EventType::text_view(field, event), text_);
  };
  return std::ranges::any_of(type->fields, found) ||
         std::ranges::any_of(type->values_of(event), found);
}

void NameMatch::find(std::string_view pattern, const SpanTypes& types, const Catalogue& catalogue,
                     const Tasks* tasks) {
  for (TypeIndex type = 0; type < types.size(); type++) {
    types_[type] = fits(types[type].name, pattern);
    any_ |= types_[type];
  }
  for (const EventType& type : catalogue.events()) {
    events_[type.id] = type.role == Role::point && fits(type.name, pattern);
    any_ |= events_[type.id];
  }
  for (TaskIndex task = 0; task < tasks_.size(); task++) {
    const TaskInfo& info = (*tasks)[task];
    if (info.idle) continue;
    tasks_[task] = fits(tasks->name(task), pattern) || pattern == std::to_string(info.tid) ||
                   pattern == std::to_string(info.tgid);
    any_task_ |= tasks_[task];
  }
  any_ |= any_task_;
}

SearchHits find_hits(const Timeline& timeline, const NameMatch& match, const TimeScale& scale,
                     const Unwanted& unwanted) {
  class Sink : public StateObserver {
   public:
    Sink(const NameMatch& match, const TimeScale& scale)
        : match_(match), scale_(scale), marked_(scale.cells) {}
    void slice(const Slice& slice) override {
      if (slice.begun && match_.slice(slice)) mark(slice.from);
    }
    void event(const Event& event, TaskIndex, const SpanStep&) override {
      if (!event.is_gap() && match_.event(event)) mark(event.clock);
    }
    SearchHits take() const {
      SearchHits hits;
      hits.count = count_;
      for (std::uint32_t cell = 0; cell < marked_.size(); cell++) {
        if (marked_[cell]) hits.columns.push_back(cell);
      }
      return hits;
    }

   private:
    void mark(std::uint64_t clock) {
      if (clock < scale_.from || clock >= scale_.to) return;
      count_++;
      marked_[scale_.cell(clock)] = true;
    }
    const NameMatch& match_;
    const TimeScale& scale_;
    std::vector<bool> marked_;
    std::uint64_t count_ = 0;
  } sink(match, scale);
  timeline.follow(scale.from, scale.to, sink, unwanted);
  return sink.take();
}

Histogram run_times(const Timeline& timeline, const NameMatch& match, std::uint64_t from,
                    std::uint64_t to, const Unwanted& unwanted) {
  class Sink : public StateObserver {
   public:
    Sink(const NameMatch& match, std::uint64_t from) : match_(match), from_(from) {}
    void slice(const Slice& slice) override {
      const bool whole = slice.begun && slice.ended && slice.from >= from_;
      if (whole && slice.kind == SliceKind::run && match_.slice(slice)) {
        times.add(slice.to - slice.from);
      }
    }
    Histogram times;

   private:
    const NameMatch& match_;
    std::uint64_t from_;
  } sink(match, from);
  timeline.follow(from, to, sink, unwanted);
  return std::move(sink.times);
}

std::vector<std::string> searchable_names(const SpanTypes& types, const Catalogue& catalogue) {
  std::set<std::string> names;
  for (TypeIndex type = 0; type < types.size(); type++) names.insert(types[type].name);
  for (const EventType& type : catalogue.events()) {
    if (type.role == Role::point) names.insert(type.name);
  }
  return {names.begin(), names.end()};
}

std::optional<Occurrence> next_occurrence(const Timeline& timeline, const NameMatch& match,
                                          std::uint64_t from, const Unwanted& unwanted) {
  NextSink first(match, from);
  timeline.follow(from, timeline.end(), first, unwanted);
  if (!first.found()) return {};
  // A match that began before this one may still have been open when this one ended.
  const Occurrence found = *first.found();
  class Earlier : public StateObserver {
   public:
    Earlier(const NameMatch& match, std::uint64_t from, const Occurrence& best)
        : match_(match), from_(from), best_(best) {}
    void slice(const Slice& slice) override {
      if (slice.ended || slice.from < from_ || slice.from >= best_.slice.from) return;
      if (match_.slice(slice)) best_ = {slice};
    }
    const Occurrence& best() const { return best_; }

   private:
    const NameMatch& match_;
    std::uint64_t from_;
    Occurrence best_;
  } earlier(match, from, found);
  timeline.follow(from, found.slice.to, earlier, unwanted);
  if (earlier.best().slice.from == found.slice.from) return found;
  WholeSink whole(earlier.best().slice);
  timeline.follow(from, timeline.end(), whole, unwanted);
  return Occurrence{whole.whole()};
}

std::vector<Occurrence> slowest_occurrences(const Timeline& timeline, const NameMatch& match,
                                            std::uint64_t from, std::uint64_t to, std::size_t most,
                                            std::uint64_t at_least, std::uint64_t below,
                                            const Unwanted& unwanted) {
  SlowestSink sink(match, from, most, at_least, below);
  timeline.follow(from, to, sink, unwanted);
  return sink.take();
}

}  // namespace fkt
