// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/call_places.h"

#include <algorithm>

#include "lib/format/clocks.h"
#include "lib/read/split_walk.h"

namespace fkt {

// A thread that runs from an item of the page on, up to the next run's.
struct CallPlaces::Run {
  std::uint64_t before = 0;  // clock of the item before that item (ticks); 0: there is none
  std::uint32_t pid = 0;
};

// State of a walk over the items. It is enough if no event was lost and no call ended before the
// event that precedes its own; else `entirely` is set, and the page must be read with PageSplitter.
// The clocks of items are those of PageSplitter's.
class CallPlaces::Walked {
 public:
  explicit Walked(const Page& page) : first_clock_(page.header.first_clock), end_(first_clock_) {}

  bool entirely() const { return entirely_; }
  bool enough() const { return entirely_; }
  static void time() {}

 protected:
  std::uint64_t first_clock() const { return first_clock_; }
  bool any() const { return any_; }
  std::uint64_t clock() const { return clock_; }  // of the last item
  std::uint64_t end() const { return end_; }      // of the last item, or of the time before it
  void needs_all() { entirely_ = true; }

  void next(std::uint64_t clock, std::uint64_t end) {
    clock_ = clock;
    end_ = end;
    any_ = true;
  }
  // Returns the clock of the item of a call's event, which is at `told` (ticks).
  std::uint64_t item_of(const ToldCall& call, std::uint64_t told) {
    if (!call.end_is_known()) return told;
    if (call.end >= end_) return call.end;
    if (call.end >= first_clock_) needs_all();
    return told;
  }

 private:
  std::uint64_t first_clock_, end_, clock_ = 0;
  bool any_ = false, entirely_ = false;
};

// Finds the calls whose begin, or whose end, is not in the page.
class CallPlaces::Finder : public Walked {
 public:
  Finder(const Page& page, std::vector<OutsideCall>& found) : Walked(page), found_(found) {}

  struct Alone {
    std::uint64_t last, end;
    bool any;
    void put(std::uint64_t, std::uint64_t clock, std::uint64_t until, std::uint32_t, bool) {
      last = clock;
      end = until;
      any = true;
    }
  };
  Alone alone() const { return {clock(), end(), any()}; }
  void take(const Alone& read) {
    if (read.any) next(read.last, read.end);
  }
  void item(std::uint64_t clock, std::uint32_t, bool lost) {
    if (lost) needs_all();
    next(clock, clock);
  }
  void runs(std::uint32_t pid) { runs_.push_back({any() ? clock() : 0, pid}); }
  void call(const ToldCall& call, const Event& event, std::uint32_t at, std::uint32_t pid) {
    const bool at_once = call.begin >= end();
    const bool late_end = !call.end_is_known() || call.end < end();
    if (!at_once && !is_inside(call, pid)) found_.push_back(outside(call, at, pid, false));
    if (late_end && call.end_is_known() && event.clock - call.end > kAtOnceTicks) {
      found_.push_back(outside(call, at, pid, true));
    }
    const std::uint64_t clock = item_of(call, event.clock);
    next(clock, clock);
    calls_++;
  }

 private:
  OutsideCall outside(const ToldCall& call, std::uint32_t at, std::uint32_t pid,
                      bool is_end) const {
    return {calls_, at, pid, call.begin, call.end, call.number, is_end};
  }
  // Returns whether the call began in the page while its thread ran.
  bool is_inside(const ToldCall& call, std::uint32_t pid) const {
    if (call.begin < first_clock()) return false;
    if (clock() <= call.begin) return true;  // in the pair before it
    const auto run = std::find_if(runs_.rbegin(), runs_.rend(), [&](const Run& candidate) {
      return candidate.before <= call.begin;
    });
    return run->pid == pid;
  }

  std::vector<OutsideCall>& found_;
  std::vector<Run> runs_;
  std::uint32_t calls_ = 0;
};

std::span<const OutsideCall> CallPlaces::outside(const Page& page) {
  outside_.clear();
  Finder finder(page, outside_);
  walk_page(rules_, page, finder);
  if (!finder.entirely()) return outside_;
  splitter_.read(page);
  return splitter_.outside();
}

// Answers queries, which are sorted by their clocks, while it comes past these.
class CallPlaces::Answerer : public Walked {
 public:
  Answerer(const SplitRules& rules, const Page& page, std::span<Query> queries)
      : Walked(page), rules_(rules), page_(page), queries_(queries), asked_(next_asked()) {}

  struct Alone {
    Answerer& answerer;
    void put(std::uint64_t, std::uint64_t clock, std::uint64_t end, std::uint32_t at, bool) {
      answerer.pass(clock, end, at);
    }
  };
  Alone alone() { return {*this}; }
  static void take(const Alone&) {}
  void item(std::uint64_t clock, std::uint32_t at, bool lost) {
    if (lost) needs_all();
    pass(clock, clock, at);
  }
  void runs(std::uint32_t pid) { pid_ = pid; }
  void call(const ToldCall& call, const Event& event, std::uint32_t at, std::uint32_t) {
    const std::uint64_t clock = item_of(call, event.clock);
    pass(clock, clock, at);
  }
  // The page ends. next: as in PageSplitter::has_place().
  void finish(const PageWalk& walk, const fkt_page_header* following) {
    for (; answered_ < queries_.size(); answered_++) {
      Query& query = queries_[answered_];
      const std::uint64_t clock = query.call->clock();
      if (end() > clock) continue;
      if (query.call->is_end) need_all_if_interrupt_at(clock);
      query.has_place = !walk.damaged && walk.pid == query.call->pid && following != nullptr &&
                        clock < following->first_clock;
    }
  }

 private:
  void pass(std::uint64_t clock, std::uint64_t until, std::uint32_t at) {
    while (asked_ < clock) [[unlikely]] {
        answer(queries_[answered_++]);
        asked_ = next_asked();
      }
    next(clock, until);
    last_at_ = at;
  }
  std::uint64_t next_asked() const {
    return answered_ < queries_.size() ? queries_[answered_].call->clock() : kForever;
  }
  // The next item is the first one after the query's clock.
  void answer(Query& query) {
    const std::uint64_t clock = query.call->clock();
    if (end() > clock) return;  // in a pair
    if (query.call->is_end) need_all_if_interrupt_at(clock);
    query.has_place = pid_ == query.call->pid;
  }
  // If an interrupt begins at the time of a call's end, PageSplitter places the end before that
  // interrupt. How many interrupts begin then is not known here: the page must be read entirely.
  void need_all_if_interrupt_at(std::uint64_t time) {
    if (any() && clock() == time && rules_.on_cpu[fkt_word_id(page_.words[last_at_])] > 0) {
      needs_all();
    }
  }

  const SplitRules& rules_;
  const Page& page_;
  std::span<Query> queries_;
  std::size_t answered_ = 0;  // of the queries
  std::uint64_t asked_;       // clock of the next one (ticks)
  std::uint32_t pid_ = 0, last_at_ = 0;
};

void CallPlaces::answer(const Page& page, const fkt_page_header* next, std::span<Query> queries) {
  std::ranges::stable_sort(queries, {}, [](const Query& query) { return query.call->clock(); });
  for (Query& query : queries) query.has_place = false;
  Answerer answerer(rules_, page, queries);
  answerer.finish(walk_page(rules_, page, answerer), next);
  if (!answerer.entirely()) return;
  splitter_.read(page);
  for (Query& query : queries) query.has_place = splitter_.has_place(*query.call, next);
}

}  // namespace fkt
