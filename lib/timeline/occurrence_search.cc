// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/occurrence_search.h"

#include <algorithm>
#include <set>

#include "lib/query/expression.h"

namespace fkt {
namespace {

// Returns whether the value of such slices is their type.
bool is_named(SliceKind kind) {
  return kind == SliceKind::call || kind == SliceKind::interrupt || kind == SliceKind::async;
}

// Stops the scan at the first match. A slice is reported when it ends, so a match that began
// earlier may still be open then; next_occurrence() looks for it in a second pass.
class NextSink : public StateObserver {
 public:
  NextSink(const NameMatch& match, std::uint64_t from) : match_(match), from_(from) {}

  void slice(const Slice& slice) override {
    const bool named = is_named(slice.kind);
    if (!named || slice.from < from_ || !match_.type(slice.value)) return;
    offer({slice.from, slice.to, slice.cpu, slice.task, slice.value, 0});
  }
  void event(const Event& event, TaskIndex running, const Step&) override {
    if (event.is_gap() || event.clock < from_ || !match_.event(event.id)) return;
    offer({event.clock, event.clock, event.cpu, running, kNoType, event.id});
  }
  bool enough() const override { return found_.has_value(); }
  const std::optional<Occurrence>& found() const { return found_; }

 private:
  void offer(const Occurrence& occurrence) {
    if (!found_ || occurrence.from < found_->from) found_ = occurrence;
  }
  const NameMatch& match_;
  std::uint64_t from_;
  std::optional<Occurrence> found_;
};

class SlowestSink : public StateObserver {
 public:
  SlowestSink(const NameMatch& match, std::uint64_t from, std::size_t most, std::uint64_t at_least,
              std::uint64_t below)
      : match_(match), from_(from), most_(most), at_least_(at_least), below_(below) {}

  void slice(const Slice& slice) override {
    const bool named = is_named(slice.kind);
    if (!named || !slice.begun || !slice.ended || slice.from < from_) return;
    const std::uint64_t length = slice.to - slice.from;
    if (length < at_least_ || length >= below_ || !match_.type(slice.value)) return;
    if (found_.size() == most_ && length <= found_.back().length()) return;
    const Occurrence occurrence{slice.from, slice.to, slice.cpu, slice.task, slice.value, 0};
    const auto place =
        std::ranges::upper_bound(found_, length, std::greater<>(), &Occurrence::length);
    found_.insert(place, occurrence);
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

NameMatch::NameMatch(std::string_view name, const SpanTypes& types, const Catalogue& catalogue)
    : types_(types.size()), events_(1 << FKT_ID_BITS) {
  for (TypeIndex type = 0; type < types.size(); type++) {
    types_[type] = fits(types[type].name, name);
    any_ |= types_[type];
  }
  for (const EventType& type : catalogue.events()) {
    events_[type.id] = type.role == Role::point && fits(type.name, name);
    any_ |= events_[type.id];
  }
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
      const bool named = is_named(slice.kind);
      if (!named || slice.ended || slice.from < from_ || slice.from >= best_.from) return;
      if (match_.type(slice.value)) {
        best_ = {slice.from, slice.to, slice.cpu, slice.task, slice.value, 0};
      }
    }
    const Occurrence& best() const { return best_; }

   private:
    const NameMatch& match_;
    std::uint64_t from_;
    Occurrence best_;
  } earlier(match, from, found);
  timeline.follow(from, found.to, earlier, unwanted);
  return earlier.best();
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
