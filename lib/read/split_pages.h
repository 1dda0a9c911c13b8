// SPDX-License-Identifier: GPL-2.0-only
// The pages of a recording that has events of whole calls, in their split form
// (lib/read/page_splitter.h). A call may have begun in an earlier page, or on another CPU from
// which its thread came while it slept in the call. So all pages are read once when the recording
// is opened, for the calls that did not begin in the page in which they ended; then those pages
// again in which these may have begun. Memory: some bytes for each such call.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "lib/read/page_splitter.h"
#include "lib/read/trace.h"

namespace fkt {

struct TraceData;

class SplitPages {
 public:
  // Reads the pages of `data`, which must outlive this object and whose pages and sections must be
  // known. `rules` must have calls. Sets the end of those pages in data.pages behind which a begin
  // goes.
  SplitPages(PageSplitter::Rules rules, TraceData& data);
  ~SplitPages();
  SplitPages(const SplitPages&) = delete;
  SplitPages& operator=(const SplitPages&) = delete;

  // Returns a page (its position in TraceData::pages) after checking it. Any number of threads may
  // call it at once.
  Result<Page> page(std::uint32_t number) const;
  // Returns the begins in these pages (ascending) that are made of events in other pages than
  // these.
  std::vector<BegunCall> begun(std::span<const std::uint32_t> pages) const;

 private:
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  struct Begin {
    std::uint64_t clock = 0, end = 0;  // ticks
    MadeEvent event;
    std::uint32_t from = kNowhere;  // page of the event; kNowhere: not in the file
  };
  // What the splitter must be told of a page:
  struct Given {
    std::vector<Begin> begins;        // in the order in which they go into the page
    std::vector<std::uint32_t> late;  // PageSplitter::split()
  };
  // A call of which the page where it began is looked for.
  struct Wanted {
    PageSplitter::Outside call;
    std::uint32_t page = 0;          // in which it ended
    std::uint32_t found = kNowhere;  // page in which it began
  };
  struct Query {
    std::uint32_t page = 0, wanted = 0;
  };

  void add_begin(std::uint32_t page, Begin begin);
  void add_begun();
  void find_wanted();
  std::vector<Query> queries(bool own_cpu) const;
  void answer(std::vector<Query> queries);
  void give();
  bool open_at_cut(const Wanted& wanted) const;
  void set_places();
  std::uint32_t page_at(const std::vector<std::uint32_t>& pages, std::uint64_t clock) const;

  const PageSplitter::Rules rules_;
  TraceData& data_;
  std::vector<Wanted> wanted_;
  std::vector<std::uint32_t> next_on_cpu_;  // by page; kNowhere: none
  std::unordered_map<std::uint32_t, Given> given_;
  std::vector<std::uint64_t> places_;  // by page: as in PageSplitter::split()
  class Cache;
  std::unique_ptr<Cache> cache_;
};

}  // namespace fkt
