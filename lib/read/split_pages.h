// SPDX-License-Identifier: GPL-2.0-only
// The pages of a recording that has events of whole calls, in their split form
// (lib/read/page_splitter.h). A call may have begun in an earlier page, or on another CPU from
// which its thread came while it slept in the call; and it may have ended so, if its event was
// written when a call that it was in had ended. So all pages are read once when the recording is
// opened, for the calls that did not begin or end in the page that has their event; then those
// pages again in which these may have done that. Memory: some bytes for each such call.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "lib/read/page_splitter.h"
#include "lib/read/recording.h"

namespace fkt {

struct RecordingData;

class SplitPages {
 public:
  // Reads the pages of `data`, which must outlive this object and whose pages and sections must be
  // known. `rules` must have calls. Sets the end of those pages in data.pages behind which a begin
  // or an end goes, and CpuTotals::ends_more.
  SplitPages(SplitRules rules, RecordingData& data);
  ~SplitPages();
  SplitPages(const SplitPages&) = delete;
  SplitPages& operator=(const SplitPages&) = delete;

  // Returns a page (its position in RecordingData::pages) after checking it. Any number of threads
  // may call it at once.
  Result<Page> page(std::uint32_t number) const;
  // Same as Recording::later_calls() and Recording::exchanges_ends().
  LaterCalls later_calls(std::span<const std::uint32_t> pages) const;
  bool exchanges_ends(std::uint32_t page) const;

 private:
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  // A begin or an end that goes into another page than its call's event.
  struct Moved {
    std::uint64_t clock = 0, other = 0;  // ticks; other: when the call ended, or began
    MadeEvent event;
    bool is_end = false;
    std::uint32_t from = kNowhere;  // page of the event; kNowhere: not in the file
  };
  // The arguments of the splitter for a page:
  struct PageInput {
    std::vector<Moved> moved;                // in the order in which they go into the page
    std::vector<std::uint32_t> late, ended;  // PageSplitter::split()
  };
  // A call of which the page where it began, or ended, is looked for.
  struct Wanted {
    OutsideCall call;
    std::uint32_t page = 0;          // of its event
    std::uint32_t found = kNowhere;  // page in which it began, or ended
  };
  struct Query {
    std::uint32_t page = 0, wanted = 0;
  };

  void add(std::uint32_t page, Moved moved);
  void add_later(const LaterCall& call, bool is_end);
  void find_wanted();
  void look_for_wanted(bool own_cpu);
  void answer(std::vector<Query> queries);
  void give();
  void count_ends();
  void give_one(const Wanted* begin, const Wanted* end, const Page& page);
  bool is_open(const Checkpoint& checkpoint, const Wanted& wanted) const;
  bool open_at_cut(const Wanted& wanted) const;
  bool over_at_cut(const Wanted& wanted) const;
  void set_places();
  std::uint32_t page_at(const std::vector<std::uint32_t>& pages, std::uint64_t clock) const;

  const SplitRules rules_;
  RecordingData& data_;
  std::vector<Wanted> wanted_;
  std::vector<std::uint32_t> next_on_cpu_;  // by page; kNowhere: none
  std::unordered_map<std::uint32_t, PageInput> given_;
  std::vector<std::uint64_t> places_;  // by page: as in PageSplitter::split()
  class Cache;
  std::unique_ptr<Cache> cache_;
};

}  // namespace fkt
