// SPDX-License-Identifier: GPL-2.0-only
// The contents of an opened Recording, shared by lib/read/recording.cc, which fills them in, and
// the streams, which read them and report damage.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/base/mapped_file.h"
#include "lib/read/page_decoder.h"
#include "lib/read/page_source.h"
#include "lib/read/recording.h"
#include "lib/read/split_pages.h"

namespace fkt {

struct RecordingData {
  explicit RecordingData(MappedFile input) : file(std::move(input)) {}

  MappedFile file;
  std::optional<PageSource> source;  // set as soon as the pages' place in the file is known
  RecordingInfo info;
  std::uint64_t tail_offset = 0;  // 0: the file has no tail
  WordTable table{Catalogue()};   // of the events in page()
  // nullptr: the recording has no events of whole calls; `split` after Recording::split(),
  // likewise.
  std::unique_ptr<SplitRules> rules;
  std::unique_ptr<SplitPages> split;
  std::vector<PageRef> pages;                                  // in file order
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_cpu;  // indexes in `pages`, by CPU
  Integrity integrity;

  // Returns a page (its position in `pages`) after checking it, with the events that readers see.
  Result<Page> page(std::uint32_t number) const {
    return split ? split->page(number) : source->page(pages[number].offset);
  }
  // Returns the page, or an error if it is not the one that the index says.
  Result<Page> in_its_place(std::uint32_t number, Result<Page> page) const;
  // Called by readers that go through the file from its begin, any number of them at once: pages
  // far before the one at `offset` are taken out of this process's memory.
  void passed(std::uint64_t offset) const;
  // Takes all pages out of this process's memory; the next pass begins at the first one.
  void forget() const;
  // Adds a line to integrity.notes, unless there are too many already.
  void note(std::string line);
  // Counts and notes, once per page, a page that cannot be read completely.
  void damaged_page(std::uint64_t offset, const Error& error);
  // Notes that `total` events of the CPU were lost since the recording's start.
  void set_lost(std::uint32_t cpu, std::uint64_t total);
  // Notes that `total` events of the CPU were lost before the slice; they do not count as its loss.
  void lost_before(std::uint32_t cpu, std::uint64_t total) { lost_[cpu] = total; }

 private:
  std::set<std::uint64_t> damaged_offsets_;
  std::set<std::string> damage_noted_;                // messages, one for all pages of a group
  mutable std::atomic<std::uint64_t> forgotten_ = 0;  // what is before this offset is not in memory
  std::map<std::uint32_t, std::uint64_t> lost_;       // per CPU: the highest total seen
  std::uint64_t lost_sum_ = 0;
};

}  // namespace fkt
