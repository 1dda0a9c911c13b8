// SPDX-License-Identifier: GPL-2.0-only
// What an opened Trace consists of: shared by lib/trace.cc, which fills it, and the streams, which
// read it and report what they find damaged.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/mapped_file.h"
#include "lib/page.h"
#include "lib/page_source.h"
#include "lib/trace.h"

namespace fkt {

struct TraceData {
  explicit TraceData(MappedFile input) : file(std::move(input)) {}

  MappedFile file;
  std::optional<PageSource> source;  // of `file`; set as soon as it is known where pages stand
  TraceInfo info;
  std::uint64_t tail_offset = 0;  // 0: none
  WordTable table{Catalogue()};
  std::vector<PageRef> pages;                                  // in file order
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_cpu;  // positions in `pages`
  Integrity integrity;

  // Adds a line to integrity.notes, of which there are not endlessly many.
  void note(std::string line);
  // A page that cannot be read, or not to its end: counted and noted once.
  void damaged_page(std::uint64_t offset, const Error& error);
  // `total` events have been lost on this CPU since its start, as something in the file says.
  void set_lost(std::uint32_t cpu, std::uint64_t total);
  // ... of which so many before a slice, whose loss they are not.
  void lost_before(std::uint32_t cpu, std::uint64_t total) { lost_[cpu] = total; }

 private:
  std::set<std::uint64_t> damaged_offsets_;
  std::set<std::string> damage_noted_;           // all pages of a group have one error
  std::map<std::uint32_t, std::uint64_t> lost_;  // per CPU: the highest total seen
  std::uint64_t lost_sum_ = 0;
};

}  // namespace fkt
