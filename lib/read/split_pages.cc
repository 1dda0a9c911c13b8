// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/split_pages.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <thread>

#include "lib/base/parallel_for.h"
#include "lib/read/trace_data.h"

namespace fkt {
namespace {

constexpr std::size_t kAtOnce = 16;  // pages that a thread takes at a time
constexpr unsigned kMostThreads = 8;

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

 private:
  struct Slot {
    std::uint32_t number = kNowhere;
    Page page;
  };
  std::mutex mutex_;
  std::array<Slot, 128> slots_;
};

SplitPages::SplitPages(PageSplitter::Rules rules, TraceData& data)
    : rules_(std::move(rules)), data_(data), cache_(std::make_unique<Cache>()) {
  next_on_cpu_.assign(data.pages.size(), kNowhere);
  for (const auto& [cpu, pages] : data.by_cpu) {
    for (std::size_t i = 1; i < pages.size(); i++) next_on_cpu_[pages[i - 1]] = pages[i];
  }
  find_wanted();
  answer(queries(true));
  answer(queries(false));
  give();
  set_places();
}

SplitPages::~SplitPages() = default;

void SplitPages::find_wanted() {
  std::mutex mutex;
  const std::vector<PageRef>& pages = data_.pages;
  places_.assign(pages.size(), 0);
  parallel_for(pages.size(), kAtOnce, threads(), [&](std::size_t first, std::size_t end) {
    PageSplitter splitter(rules_);
    std::vector<Wanted> wanted;
    for (std::size_t i = first; i < end; i++) {
      const Result<Page> page = data_.source->page(pages[i].offset);
      if (!page) continue;
      splitter.read(*page);
      places_[i] = PageSplitter::most_words(*page, 0, 0);
      for (const PageSplitter::Outside& call : splitter.outside()) {
        wanted.push_back({call, static_cast<std::uint32_t>(i)});
      }
    }
    const std::lock_guard lock(mutex);
    wanted_.insert(wanted_.end(), wanted.begin(), wanted.end());
  });
  // The result does not depend on the order in which the threads came.
  std::ranges::sort(wanted_, {},
                    [](const Wanted& wanted) { return std::pair(wanted.page, wanted.call.call); });
}

// Returns the last of the CPU's pages that begins at `clock` or before; kNowhere: there is none.
std::uint32_t SplitPages::page_at(const std::vector<std::uint32_t>& pages,
                                  std::uint64_t clock) const {
  const auto behind = std::ranges::upper_bound(
      pages, clock, {}, [this](std::uint32_t page) { return data_.pages[page].first_clock; });
  return behind == pages.begin() ? kNowhere : *std::prev(behind);
}

// Returns where to look for the calls that have not been found: on the CPU on which they ended, or
// on all others.
std::vector<SplitPages::Query> SplitPages::queries(bool own_cpu) const {
  std::vector<Query> queries;
  for (std::uint32_t i = 0; i < wanted_.size(); i++) {
    const Wanted& wanted = wanted_[i];
    if (wanted.found != kNowhere) continue;
    const std::uint32_t own = data_.pages[wanted.page].cpu;
    for (const auto& [cpu, pages] : data_.by_cpu) {
      if ((cpu == own) != own_cpu) continue;
      const std::uint32_t page = page_at(pages, wanted.call.begin);
      if (page != kNowhere) queries.push_back({page, i});
    }
  }
  std::ranges::sort(queries, {},
                    [](const Query& query) { return std::pair(query.page, query.wanted); });
  return queries;
}

void SplitPages::answer(std::vector<Query> queries) {
  std::vector<std::size_t> first;  // of the queries of each page
  for (std::size_t i = 0; i < queries.size(); i++) {
    if (i == 0 || queries[i].page != queries[i - 1].page) first.push_back(i);
  }
  first.push_back(queries.size());
  std::mutex mutex;
  parallel_for(first.size() - 1, 1, threads(), [&](std::size_t from, std::size_t to) {
    PageSplitter splitter(rules_);
    for (std::size_t i = from; i < to; i++) {
      const std::uint32_t number = queries[first[i]].page, behind = next_on_cpu_[number];
      const Result<Page> page = data_.source->page(data_.pages[number].offset);
      if (!page) continue;
      splitter.read(*page);
      fkt_page_header next{};
      bool joined = false;
      if (behind != kNowhere) {
        const Result<Page> header = data_.source->page_header(data_.pages[behind].offset);
        if (header) next = header->header;
        joined = header && next.seq == page->header.seq + 1 && next.lost == page->header.lost;
      }
      for (std::size_t at = first[i]; at < first[i + 1]; at++) {
        Wanted& wanted = wanted_[queries[at].wanted];
        const PageSplitter::Outside& call = wanted.call;
        if (!splitter.has_place(call.begin, call.pid, joined ? &next : nullptr)) continue;
        const std::lock_guard lock(mutex);
        // A thread runs on one CPU; in a damaged recording the first page is taken.
        wanted.found = std::min(wanted.found, number);
      }
    }
  });
}

// Returns whether the checkpoint of the slice's stretch in which the call ended has it among the
// open spans, so that it needs no begin.
bool SplitPages::open_at_cut(const Wanted& wanted) const {
  const TraceInfo& info = data_.info;
  if (!info.checkpoint) return false;
  const Checkpoint* checkpoint = &*info.checkpoint;
  for (std::size_t i = 1; i < info.stretches(); i++) {
    if (info.stretch(i).from <= wanted.call.end) checkpoint = &info.stretch(i);
  }
  if (wanted.call.begin >= checkpoint->from) return false;
  const auto is_open = [&](const std::vector<Checkpoint::Open>& stack) {
    return std::ranges::any_of(stack, [&](const Checkpoint::Open& open) {
      return open.begin == wanted.call.begin && open.match == wanted.call.number;
    });
  };
  const auto in_task = [&](const Checkpoint::Task& task) {
    return task.tid == wanted.call.pid && is_open(task.open);
  };
  const auto in_interrupt = [&](const Checkpoint::Cpu& cpu) {
    return cpu.cpu == data_.pages[wanted.page].cpu && is_open(cpu.open);
  };
  return std::ranges::any_of(checkpoint->tasks, in_task) ||
         std::ranges::any_of(checkpoint->cpus, in_interrupt);
}

// Tells each page what of its calls is late, and which begins go into it.
void SplitPages::give() {
  PageSplitter splitter(rules_);
  Page last;
  std::uint32_t read = kNowhere;
  for (const Wanted& wanted : wanted_) {
    if (wanted.found == kNowhere) {
      if (!open_at_cut(wanted)) given_[wanted.page].late.push_back(wanted.call.call);
      continue;
    }
    if (read != wanted.page) {
      last = *data_.source->page(data_.pages[wanted.page].offset);
      splitter.read(last);
      read = wanted.page;
    }
    add_begin(wanted.found, {wanted.call.begin, wanted.call.end,
                             splitter.begin_of(wanted.call.call), wanted.page});
  }
  wanted_ = {};
  add_begun();
  for (auto& [page, given] : given_) {
    // PageSplitter::split() takes a begin that comes later for that of an outer call.
    std::ranges::stable_sort(given.begins, [](const Begin& x, const Begin& y) {
      return x.clock != y.clock ? x.clock > y.clock : x.end < y.end;
    });
  }
}

void SplitPages::add_begin(std::uint32_t page, Begin begin) {
  PageRef& ref = data_.pages[page];
  ref.end_clock = std::max(ref.end_clock, begin.clock);
  given_[page].begins.push_back(std::move(begin));
}

// Adds the begins of a slice's calls whose events are behind it.
void SplitPages::add_begun() {
  for (const BegunCall& call : data_.info.begun) {
    const CallEvent* const type = rules_.calls.find(call.event);
    const auto pages = data_.by_cpu.find(call.cpu);
    if (type == nullptr || pages == data_.by_cpu.end()) continue;
    const std::size_t words =
        data_.info.catalogue.find(type->begin)->words.value_or(call.arg & FKT_VAR_MASK);
    const bool fits = call.words.size() == words && call.begin <= call.end;
    const std::uint32_t page = page_at(pages->second, call.begin);
    if (page == kNowhere || !fits) continue;
    add_begin(page, {call.begin, call.end, {type->begin, call.arg, call.words}, kNowhere});
  }
}

std::vector<BegunCall> SplitPages::begun(std::span<const std::uint32_t> pages) const {
  std::vector<BegunCall> begun;
  for (const std::uint32_t page : pages) {
    const auto given = given_.find(page);
    if (given == given_.end()) continue;
    for (const Begin& begin : given->second.begins) {
      if (std::ranges::binary_search(pages, begin.from)) continue;
      const CallEvent& type = rules_.calls[begin.event.id - kMadeBegins];
      begun.push_back({data_.pages[page].cpu, begin.clock, begin.end, type.id, begin.event.arg,
                       begin.event.words});
    }
  }
  return begun;
}

// Gives the events of all pages different offsets.
void SplitPages::set_places() {
  std::uint64_t place = 0;
  for (std::uint32_t i = 0; i < places_.size(); i++) {
    std::uint64_t words = places_[i];
    if (const auto given = given_.find(i); given != given_.end()) {
      for (const Begin& begin : given->second.begins) words += 3 + begin.event.words.size();
    }
    places_[i] = place;
    place += 8 * words;
  }
}

Result<Page> SplitPages::page(std::uint32_t number) const {
  Page found;
  if (cache_->find(number, found)) return found;
  Result<Page> page = data_.source->page(data_.pages[number].offset);
  if (!page) return page;
  PageSplitter splitter(rules_);
  splitter.read(*page);
  std::vector<PageSplitter::Begin> begins;
  std::span<const std::uint32_t> late;
  if (const auto given = given_.find(number); given != given_.end()) {
    for (const Begin& begin : given->second.begins) {
      begins.push_back({begin.clock, begin.end, &begin.event});
    }
    late = given->second.late;
  }
  Page split = splitter.split(begins, late, places_[number]);
  cache_->put(number, split);
  return split;
}

}  // namespace fkt
