// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/split_pages.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include "lib/base/parallel_for.h"
#include "lib/read/call_places.h"
#include "lib/read/quick_splitter.h"
#include "lib/read/recording_data.h"

namespace fkt {
namespace {

constexpr std::size_t kAtOnce = 16;  // pages that a thread takes at a time
constexpr unsigned kMostThreads = 8;
constexpr std::size_t kMostQueries = 1 << 20;  // at a time, and one more for each call

unsigned threads() {
  return std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
}

}  // namespace

// The pages that were read last: the scan reads each page twice, for its digest and for events that
// are read one by one.
class SplitPages::Cache {
 public:
  bool find(std::uint32_t number, Page& page) {
    const std::lock_guard lock(mutex_);
    const Slot& slot = slots_[number % slots_.size()];
    if (slot.number != number) return false;
    page = slot.page;
    return true;
  }
  void put(std::uint32_t number, const Page& page) {
    const std::lock_guard lock(mutex_);
    slots_[number % slots_.size()] = {number, page};
  }
  struct Splitters {
    explicit Splitters(const SplitRules& rules) : quick(rules), any(rules) {}
    QuickSplitter quick;
    PageSplitter any;
  };
  // Returns splitters with the memory that they needed for an earlier page, if some are idle.
  std::unique_ptr<Splitters> take(const SplitRules& rules) {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Splitters>(rules);
    std::unique_ptr<Splitters> splitters = std::move(idle_.back());
    idle_.pop_back();
    return splitters;
  }
  void give_back(std::unique_ptr<Splitters> splitters) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(splitters));
  }

 private:
  struct Slot {
    std::uint32_t number = kNowhere;
    Page page;
  };
  std::mutex mutex_;
  std::array<Slot, 32> slots_;
  std::vector<std::unique_ptr<Splitters>> idle_;
};

SplitPages::SplitPages(SplitRules rules, RecordingData& data)
    : rules_(std::move(rules)), data_(data), cache_(std::make_unique<Cache>()) {
  next_on_cpu_.assign(data.pages.size(), kNowhere);
  for (const auto& [cpu, pages] : data.by_cpu) {
    for (std::size_t i = 1; i < pages.size(); i++) next_on_cpu_[pages[i - 1]] = pages[i];
  }
  find_wanted();
  look_for_wanted(true);
  look_for_wanted(false);
  give();
  count_ends();
  set_places();
}

SplitPages::~SplitPages() = default;

void SplitPages::find_wanted() {
  std::mutex mutex;
  const std::vector<PageRef>& pages = data_.pages;
  places_.assign(pages.size(), 0);
  parallel_for(pages.size(), kAtOnce, threads(), [&](std::size_t first, std::size_t end) {
    CallPlaces places(rules_);
    std::vector<Wanted> wanted;
    for (std::size_t i = first; i < end; i++) {
      const Result<Page> page = data_.source->page(pages[i].offset);
      if (!page) continue;
      places_[i] = PageSplitter::most_words(*page, 0, 0);
      for (const OutsideCall& call : places.outside(*page)) {
        wanted.push_back({call, static_cast<std::uint32_t>(i)});
      }
    }
    const std::lock_guard lock(mutex);
    wanted_.insert(wanted_.end(), wanted.begin(), wanted.end());
  });
  // The result does not depend on the order in which the threads came.
  std::ranges::sort(wanted_, {}, [](const Wanted& wanted) {
    return std::tuple(wanted.page, wanted.call.call, wanted.call.is_end);
  });
}

// Returns the last of the CPU's pages that begins at `clock` or before; kNowhere: there is none.
std::uint32_t SplitPages::page_at(const std::vector<std::uint32_t>& pages,
                                  std::uint64_t clock) const {
  const auto behind = std::ranges::upper_bound(
      pages, clock, {}, [this](std::uint32_t page) { return data_.pages[page].first_clock; });
  return behind == pages.begin() ? kNowhere : *std::prev(behind);
}

// Looks for the calls that have not been found: on the CPU on which they ended, or on all others.
void SplitPages::look_for_wanted(bool own_cpu) {
  std::vector<Query> queries;
  for (const auto& [cpu, pages] : data_.by_cpu) {
    for (std::uint32_t i = 0; i < wanted_.size(); i++) {
      const Wanted& wanted = wanted_[i];
      const bool is_own = data_.pages[wanted.page].cpu == cpu;
      if (wanted.found != kNowhere || is_own != own_cpu) continue;
      if (!is_own && wanted.call.pid == 0) continue;  // each CPU has an idle thread of its own
      const std::uint32_t page = page_at(pages, wanted.call.clock());
      if (page != kNowhere) queries.push_back({page, i});
    }
    // Each call may be looked for on each CPU; what was found is not.
    if (queries.size() >= kMostQueries) answer(std::exchange(queries, {}));
  }
  answer(std::move(queries));
}

void SplitPages::answer(std::vector<Query> queries) {
  std::ranges::sort(queries, {},
                    [](const Query& query) { return std::pair(query.page, query.wanted); });
  std::vector<std::size_t> first;  // of the queries of each page
  for (std::size_t i = 0; i < queries.size(); i++) {
    if (i == 0 || queries[i].page != queries[i - 1].page) first.push_back(i);
  }
  first.push_back(queries.size());
  std::mutex mutex;
  parallel_for(first.size() - 1, 1, threads(), [&](std::size_t from, std::size_t to) {
    CallPlaces places(rules_);
    std::vector<CallPlaces::Query> asked;
    for (std::size_t i = from; i < to; i++) {
      const std::uint32_t number = queries[first[i]].page, behind = next_on_cpu_[number];
      const Result<Page> page = data_.source->page(data_.pages[number].offset);
      if (!page) continue;
      fkt_page_header next{};
      bool joined = false;
      if (behind != kNowhere) {
        const Result<Page> header = data_.source->page_header(data_.pages[behind].offset);
        if (header) next = header->header;
        joined = header && next.seq == page->header.seq + 1 && next.lost == page->header.lost;
      }
      asked.clear();
      for (std::size_t at = first[i]; at < first[i + 1]; at++) {
        asked.push_back({&wanted_[queries[at].wanted].call, queries[at].wanted});
      }
      places.answer(*page, joined ? &next : nullptr, asked);
      const std::lock_guard lock(mutex);
      for (const CallPlaces::Query& query : asked) {
        if (!query.has_place) continue;
        // A thread runs on one CPU; in a damaged recording the first page is taken.
        std::uint32_t& found = wanted_[query.number].found;
        found = std::min(found, number);
      }
    }
  });
}

// Returns whether the checkpoint has the call among its open spans.
bool SplitPages::is_open(const Checkpoint& checkpoint, const Wanted& wanted) const {
  if (wanted.call.begin >= checkpoint.from) return false;
  const auto has_call = [&](const std::vector<Checkpoint::Open>& stack) {
    return std::ranges::any_of(stack, [&](const Checkpoint::Open& open) {
      return open.begin == wanted.call.begin && open.match == wanted.call.number;
    });
  };
  const auto in_task = [&](const Checkpoint::Task& task) {
    return task.tid == wanted.call.pid && has_call(task.open);
  };
  const auto in_interrupt = [&](const Checkpoint::Cpu& cpu) {
    return cpu.cpu == data_.pages[wanted.page].cpu && has_call(cpu.open);
  };
  return std::ranges::any_of(checkpoint.tasks, in_task) ||
         std::ranges::any_of(checkpoint.cpus, in_interrupt);
}

// Returns whether a call whose begin was not found needs none, because the checkpoint of the
// slice's stretch in which it ended has it among the open spans. It needs one where its page has
// part of an earlier stretch, whose checkpoint does not have it: it became known there.
bool SplitPages::open_at_cut(const Wanted& wanted) const {
  const RecordingInfo& info = data_.info;
  if (!info.checkpoint) return false;
  std::size_t of_end = 0;
  for (std::size_t i = 1; i < info.stretches(); i++) {
    if (info.stretch(i).from <= wanted.call.end) of_end = i;
  }
  if (!is_open(info.stretch(of_end), wanted)) return false;
  for (std::size_t i = 0; i < of_end; i++) {
    const Checkpoint& earlier = info.stretch(i);
    const bool in_page = data_.pages[wanted.page].first_clock < earlier.to;
    if (in_page && wanted.call.begin < earlier.from && !is_open(earlier, wanted)) return false;
  }
  return true;
}

// Returns whether the call had ended before the slice, or before one of its stretches: its event is
// there because of a call that it was in.
bool SplitPages::over_at_cut(const Wanted& wanted) const {
  const RecordingInfo& info = data_.info;
  std::size_t i = 0;
  while (i < info.stretches() && info.stretch(i).to <= wanted.call.end) i++;
  return i < info.stretches() && wanted.call.end < info.stretch(i).from;
}

// Gives the begin and the end of a call to the pages where they were found. One of the two may be
// nullptr: it is in `page`, that of the event.
void SplitPages::give_one(const Wanted* begin, const Wanted* end, const Page& page) {
  const Wanted& any = begin != nullptr ? *begin : *end;
  const OutsideCall& call = any.call;
  const auto event = [&] { return rules_.event_at(page, call.at); };
  const auto type = [&]() -> const CallEvent& { return *rules_.calls.find(event().id); };
  const bool over = end != nullptr && over_at_cut(*end);
  const bool found = begin != nullptr && begin->found != kNowhere;
  const bool late = begin != nullptr && !found && !open_at_cut(*begin);
  const bool moves_end = end != nullptr && end->found != kNowhere && !late;
  if (found) {
    add(begin->found, {call.begin, call.end, made_begin(type(), event()), false, any.page});
  } else if (late && !over) {
    given_[any.page].late.push_back(call.call);
  }
  if (moves_end) {
    add(end->found, {call.end, call.begin, made_end(type(), event()), true, any.page});
  }
  // What ended before the cut does not end where its event is; an end without its begin would come
  // before it.
  if (moves_end || over) given_[any.page].ended.push_back(call.call);
}

// Lists for each page its late calls, and the begins and ends that go into it.
void SplitPages::give() {
  Page last;
  std::uint32_t read = kNowhere;
  for (std::size_t i = 0; i < wanted_.size(); i++) {
    const Wanted& one = wanted_[i];
    if (read != one.page) {
      last = *data_.source->page_header(data_.pages[one.page].offset);
      read = one.page;
    }
    const bool has_end = !one.call.is_end && i + 1 < wanted_.size() &&
                         wanted_[i + 1].page == one.page &&
                         wanted_[i + 1].call.call == one.call.call;
    if (one.call.is_end) {
      give_one(nullptr, &one, last);
    } else {
      give_one(&one, has_end ? &wanted_[++i] : nullptr, last);
    }
  }
  wanted_ = {};
  for (const LaterCall& call : data_.info.later.begun) add_later(call, false);
  for (const LaterCall& call : data_.info.later.ended) add_later(call, true);
  for (auto& [page, given] : given_) {
    // PageSplitter::split() takes a begin that comes later for that of an outer call, and an end
    // likewise.
    std::ranges::stable_sort(given.moved, [](const Moved& x, const Moved& y) {
      if (x.clock != y.clock) return x.clock > y.clock;
      if (x.is_end != y.is_end) return x.is_end;
      return x.is_end ? x.other > y.other : x.other < y.other;
    });
  }
}

// Each call counts once, where its end is: that may be another CPU than the one on which its event
// was written, and counted by the recorder. A slice's totals are of the ends in it.
void SplitPages::count_ends() {
  if (!data_.info.totals || data_.info.checkpoint) return;
  std::map<std::uint32_t, std::int64_t> more;
  for (const auto& [page, given] : given_) {
    for (const Moved& moved : given.moved) {
      if (!moved.is_end || moved.from == kNowhere) continue;
      more[data_.pages[page].cpu]++;
      more[data_.pages[moved.from].cpu]--;
    }
  }
  for (CpuTotals& cpu : data_.info.totals->per_cpu) cpu.ends_more = more[cpu.cpu];
}

void SplitPages::add(std::uint32_t page, Moved moved) {
  PageRef& ref = data_.pages[page];
  ref.end_clock = std::max(ref.end_clock, moved.clock);
  given_[page].moved.push_back(std::move(moved));
}

// Adds the begin, or the end, of a call of a slice whose event is behind it.
void SplitPages::add_later(const LaterCall& call, bool is_end) {
  const CallEvent* const type = rules_.calls.find(call.event);
  const auto pages = data_.by_cpu.find(call.cpu);
  if (type == nullptr || pages == data_.by_cpu.end()) return;
  const std::size_t words =
      data_.info.catalogue.find(type->begin)->words.value_or(call.arg & FKT_VAR_MASK);
  const bool fits = call.words.size() == words && call.begin <= call.end;
  const std::uint64_t clock = is_end ? call.end : call.begin;
  const std::uint32_t page = page_at(pages->second, clock);
  if (page == kNowhere || !fits) return;
  const std::uint16_t id = is_end ? type->id : type->begin;
  add(page, {clock, is_end ? call.begin : call.end, {id, call.arg, call.words}, is_end});
}

LaterCalls SplitPages::later_calls(std::span<const std::uint32_t> pages) const {
  LaterCalls calls;
  for (const std::uint32_t page : pages) {
    const auto given = given_.find(page);
    if (given == given_.end()) continue;
    for (const Moved& moved : given->second.moved) {
      if (std::ranges::binary_search(pages, moved.from)) continue;
      const std::uint16_t id = moved.event.id;
      const std::uint16_t event = moved.is_end ? id : rules_.calls[id - kMadeBegins].id;
      const auto [begin, end] = std::minmax(moved.clock, moved.other);
      (moved.is_end ? calls.ended : calls.begun)
          .push_back(
              {data_.pages[page].cpu, begin, end, event, moved.event.arg, moved.event.words});
    }
  }
  return calls;
}

bool SplitPages::exchanges_ends(std::uint32_t page) const {
  const auto given = given_.find(page);
  return given != given_.end() &&
         (!given->second.ended.empty() || std::ranges::any_of(given->second.moved, &Moved::is_end));
}

// Gives the events of all pages different offsets.
void SplitPages::set_places() {
  std::uint64_t place = 0;
  for (std::uint32_t i = 0; i < places_.size(); i++) {
    std::uint64_t words = places_[i];
    if (const auto given = given_.find(i); given != given_.end()) {
      for (const Moved& moved : given->second.moved) words += 3 + moved.event.words.size();
    }
    places_[i] = place;
    place += 8 * words;
  }
}

Result<Page> SplitPages::page(std::uint32_t number) const {
  Page found;
  if (cache_->find(number, found)) return found;
  auto page = FKT_TRY(data_.source->page(data_.pages[number].offset));
  std::vector<PageSplitter::StrayEnd> moved;
  std::span<const std::uint32_t> late, ended;
  if (const auto given = given_.find(number); given != given_.end()) {
    for (const Moved& one : given->second.moved) {
      moved.push_back({one.clock, &one.event, one.is_end});
    }
    late = given->second.late;
    ended = given->second.ended;
  }
  std::unique_ptr<Cache::Splitters> splitters = cache_->take(rules_);
  std::optional<Page> split = splitters->quick.split(page, moved, late, ended, places_[number]);
  if (!split) {
    splitters->any.read(page);
    split = splitters->any.split(moved, late, ended, places_[number]);
  }
  cache_->give_back(std::move(splitters));
  cache_->put(number, *split);
  return *split;
}

}  // namespace fkt
