// SPDX-License-Identifier: GPL-2.0-only
// What an opened Trace consists of: shared by lib/trace.cc, which fills it, and the streams, which
// read it and report what they find damaged.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/mapped_file.h"
#include "lib/page.h"
#include "lib/trace.h"

namespace fkt {

struct TraceData {
  explicit TraceData(MappedFile input) : file(std::move(input)) {}

  MappedFile file;
  TraceInfo info;
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
  std::map<std::uint32_t, std::uint64_t> lost_;  // per CPU: the highest total seen
  std::uint64_t lost_sum_ = 0;
};

}  // namespace fkt
